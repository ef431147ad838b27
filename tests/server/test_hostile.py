"""Uploads and requests that mean no good: every one is answered with a problem, none with a 500."""

from __future__ import annotations

import io
import socket
import struct
import zlib
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from PIL import Image

from agenticiqa.config import load_settings
from agenticiqa.errors import UsageError
from agenticiqa.server.service_options import ServiceOptions
from tests.server.running import RunningService, picture, running_service
from tests.support.scan_bombs import progressive


def bomb() -> bytes:
    """A PNG of a few hundred bytes that claims 30000 by 30000 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(100_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def tiny() -> bytes:
    """A GIF of 2 by 2 pixels."""
    stream = io.BytesIO()
    Image.new("RGB", (2, 2)).save(stream, "GIF")
    return stream.getvalue()


HOSTILE = {
    "bomb": (bomb(), 413, "image_too_large"),
    "empty": (b"", 422, "image_truncated"),
    "svg": (b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 415, "image_format"),
    "html": (b"<!doctype html><script>alert(1)</script>", 415, "image_format"),
    "text": (b"not an image", 415, "image_format"),
    "pdf": (b"%PDF-1.7\n", 415, "image_format"),
    "zip": (b"PK\x03\x04" + bytes(60), 415, "image_format"),
    "truncated": (picture(1)[:500], 422, "image_truncated"),
    "header only": (b"\x89PNG\r\n\x1a\n", 422, "image_truncated"),
    "too small": (tiny(), 422, "image_too_small"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_upload_gets_a_problem_with_its_code(client: httpx.Client, kind: str) -> None:
    data, status, code = HOSTILE[kind]

    answer = client.post("/v1/assess", files={"image": (f"{kind}.png", data, "image/png")})

    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (status, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["detail"].startswith(f"{kind}.png: ")


@pytest.mark.parametrize(("path", "field"), [("/v1/assess", "image"), ("/v1/compare", "images")])
def test_an_upload_that_is_refused_leaves_nothing_behind(
    client: httpx.Client, service: RunningService, path: str, field: str
) -> None:
    before = {found for found in service.folder.rglob("*") if found.is_dir()}
    good = [] if field == "image" else [(field, ("good.png", picture(41)))]

    answer = client.post(path, files=[*good, (field, ("bad.png", b"not an image"))])

    assert answer.status_code == 415
    assert {found for found in service.folder.rglob("*") if found.is_dir()} == before
    assert not [
        found for found in service.folder.rglob("image-*") if found.read_bytes() in (b"not an image", picture(41))
    ]


def test_a_polyglot_is_read_as_the_image_it_is_and_never_served_as_a_page(client: httpx.Client) -> None:
    polyglot = picture(1) + b"<script>alert(1)</script>"

    answer = client.post("/v1/assess", files={"image": ("x.html", polyglot, "text/html")})

    assert answer.status_code == 200
    shown = client.get(answer.json()["urls"]["images"][0])
    assert shown.headers["content-type"] == "image/webp"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert b"<script" not in shown.content


@pytest.mark.parametrize(
    "name", ["../../../etc/cron.d/x.png", "..\\..\\x.png", "/etc/passwd", "a\x00b.png", "💥" * 200]
)
def test_a_path_in_a_file_name_is_only_a_name(client: httpx.Client, name: str) -> None:
    answer = client.post("/v1/assess", files={"image": (name, picture(1))})

    assert answer.status_code == 200
    shown = answer.json()["names"][0]
    assert "/" not in shown
    assert "\\" not in shown
    assert len(shown) <= 120


@pytest.mark.parametrize("path", ["../secret.png", "link.png", "/etc/passwd", "a\x00b", "..", "~root/x.png"])
def test_no_file_outside_the_allowed_folder_is_read(client: httpx.Client, path: str) -> None:
    answer = client.post("/v1/assess", data={"path": path})

    assert answer.status_code in (403, 404)
    assert answer.json()["code"] in ("path_not_allowed", "path_not_found")


def test_an_address_is_no_path(client: httpx.Client, service: RunningService) -> None:
    answer = client.post("/v1/assess", data={"path": f"{service.address}/v1/examples/clean.png"})

    assert answer.json()["code"] == "path_not_allowed"
    assert "addresses are not fetched" in answer.json()["detail"]


def test_half_a_character_in_a_choice_is_refused(client: httpx.Client) -> None:
    answer = client.post(
        "/v1/assess", files={"image": ("x.png", picture(1))}, data={"choices": r'{"A": "\ud800", "B": "No"}'}
    )

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")


def test_too_much_is_cut_off_whether_or_not_its_length_is_announced(client: httpx.Client) -> None:
    announced = client.post("/v1/assess", files={"image": ("x.png", bytes(5 * 2**20))})

    answer, sent = stream_until_answered(client.base_url, 64 * 2**20)

    assert (announced.status_code, announced.json()["code"]) == (413, "body_too_large")
    assert answer[:12] in (b"HTTP/1.1 413", b"")
    assert sent < 32 * 2**20


def stream_until_answered(address: httpx.URL, most: int) -> tuple[bytes, int]:
    """Sends a body in chunks of unannounced length; the answer, and how much could be sent before it."""
    sent = 0
    with socket.create_connection((address.host, address.port or 80), timeout=20) as line:
        line.sendall(
            b"POST /v1/assess HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: multipart/form-data; boundary=x\r\n\r\n"
        )
        line.sendall(chunked(b'--x\r\nContent-Disposition: form-data; name="image"; filename="x.png"\r\n\r\n'))
        try:
            while sent < most:
                line.sendall(chunked(bytes(2**20)))
                sent += 2**20
        except OSError:
            pass
        try:
            return line.recv(65536), sent
        except OSError:
            # The connection was closed over what was still being sent, and the answer went with it.
            return b"", sent


def chunked(data: bytes) -> bytes:
    """One piece of a body of unannounced length."""
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


def test_a_slow_upload_is_cut_off(tmp_path: Path) -> None:
    with running_service(tmp_path, "--read-timeout", "1", until_ready=False) as service:
        where = urlsplit(service.address)
        with socket.create_connection((where.hostname or "", where.port or 80), timeout=20) as line:
            line.sendall(
                b"POST /v1/assess HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n"
                b"Content-Type: multipart/form-data; boundary=x\r\n\r\n--x"
            )
            answer = b"".join(iter(lambda: line.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 408")
    assert b"upload_too_slow" in answer


def test_other_hosts_and_other_sites_are_turned_away(client: httpx.Client) -> None:
    rebound = client.get("/v1/tools", headers={"Host": "evil.example"})
    foreign = client.post(
        "/v1/assess", files={"image": ("x.png", picture(1))}, headers={"Origin": "https://evil.example"}
    )
    malformed = client.post("/v1/assess", headers={"Origin": "http://["})

    assert malformed.json()["code"] == "cross_origin"
    assert (rebound.status_code, rebound.json()["code"]) == (421, "host_not_allowed")
    assert (foreign.status_code, foreign.json()["code"]) == (403, "cross_origin")
    assert "access-control-allow-origin" not in foreign.headers


@pytest.mark.parametrize("host", ["localhost#.evil.com", "[::1]evil.com", "127.0.0.1/evil.com", "evil.com@127.0.0.1"])
def test_a_host_that_only_begins_or_ends_like_ours_is_turned_away(client: httpx.Client, host: str) -> None:
    answer = client.get("/v1/tools", headers={"Host": host})

    assert (answer.status_code, answer.json()["code"]) == (421, "host_not_allowed")


@pytest.mark.parametrize("name", ["a" * 300, "a/" * 900, "a" * 300 + "/b"])
def test_a_folder_whose_name_no_folder_can_have_is_not_found(
    client: httpx.Client, service: RunningService, name: str
) -> None:
    files = client.get("/v1/folders/files", params={"path": name})
    job = client.post("/v1/jobs", data={"paths": [f"{name}/x.png"]})

    assert (files.status_code, files.json()["code"]) == (404, "path_not_found")
    assert job.status_code < 500


def test_six_scan_bombs_cost_nothing_and_a_neighbour_is_served(client: httpx.Client) -> None:
    bomb = progressive(1000, 4000)

    answers = [client.post("/v1/assess", files={"image": (f"{number}.jpg", bomb)}) for number in range(6)]
    neighbour = client.post("/v1/assess", files={"image": ("x.png", picture(61))})

    assert {(answer.status_code, answer.json()["code"]) for answer in answers} == {(413, "image_too_large")}
    assert neighbour.status_code == 200


def test_every_answer_carries_the_security_headers(client: httpx.Client) -> None:
    for path in ("/", "/v1/health", "/v1/runs/0", "/nowhere"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'; script-src 'self';")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_with_a_token_only_its_bearer_is_served(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret-ä\n", encoding="utf-8")
    with (
        running_service(tmp_path, "--token-file", str(token), until_ready=False) as service,
        service.client() as client,
    ):
        without = client.get("/v1/tools")
        wrong = client.get("/v1/tools", headers={"Authorization": "Bearer guess"})
        right = client.get("/v1/limits", headers={b"Authorization": "Bearer s3cret-ä".encode()})
        live = client.get("/v1/health/live")

    assert [answer.status_code for answer in (without, wrong, right, live)] == [401, 401, 200, 200]
    assert without.headers["www-authenticate"] == "Bearer"


def test_no_folder_outside_the_settings_allowed_root_is_opened_and_uploads_are_still_read(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    settings = load_settings(overrides={"pipeline": {"allowed_root": str(tmp_path / "inside")}}, environ={})

    with pytest.raises(UsageError, match=r"outside pipeline\.allowed_root"):
        ServiceOptions(allow_folders=(tmp_path,)).limited(settings)
    limited = ServiceOptions(allow_folders=(tmp_path / "inside",)).limited(settings)

    # Runs read copies in the service's own folder.
    assert limited.pipeline.allowed_root is None


def test_other_machines_are_served_only_with_a_token_or_on_request() -> None:
    with pytest.raises(UsageError, match="--allow-anonymous"):
        ServiceOptions(host="0.0.0.0").require_safe()

    ServiceOptions(host="0.0.0.0", token="x").require_safe()
    ServiceOptions(host="0.0.0.0", allow_anonymous=True).require_safe()
    ServiceOptions(host="::1").require_safe()
