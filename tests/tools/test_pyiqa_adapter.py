"""What the pyiqa adapter says where pyiqa is not installed, and that offline means offline."""

from __future__ import annotations

import functools
import importlib.util
import socket
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from agenticiqa.cli import app
from agenticiqa.config import load_settings
from agenticiqa.errors import OfflineError, ToolUnavailableError, UnknownToolError
from agenticiqa.images import load_image
from agenticiqa.tools import default_registry
from agenticiqa.tools.catalogue import load_catalogue
from agenticiqa.tools.pyiqa_adapter import (
    PyiqaTool,
    find_metric,
    import_failure,
    metrics_by_name,
    no_network,
    size_in_words,
)
from tests.support.photos import photo

COMMAND = "pip install 'agenticiqa[pyiqa]'"
without_pyiqa = pytest.mark.skipif(importlib.util.find_spec("pyiqa") is not None, reason="pyiqa is installed here")


@without_pyiqa
def test_every_tool_from_pyiqa_names_the_command_that_installs_it() -> None:
    registry = default_registry(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))
    borrowed = [name for name in registry.names() if registry.card(name).implementation.startswith("pyiqa:")]

    assert len(borrowed) == 21
    assert all(COMMAND in (registry.available(name) or "") for name in borrowed)


@without_pyiqa
def test_running_one_without_pyiqa_is_a_typed_error_with_the_command() -> None:
    registry = default_registry(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))

    with pytest.raises(ToolUnavailableError, match="pip install 'agenticiqa"):
        registry.execute("MUSIQ", load_image(photo("coffee")))


@without_pyiqa
def test_an_unlisted_metric_is_unknown_without_pyiqa() -> None:
    registry = default_registry(load_settings(overrides={"pipeline": {"cache": {"enabled": False}}}))

    with pytest.raises(UnknownToolError):
        registry.get("pyiqa:cw_ssim")


def test_a_name_that_is_not_pyiqas_is_left_alone(tmp_path: Path) -> None:
    assert find_metric("SSIM", tmp_path) is None


def test_missing_weights_are_named_with_the_place_they_belong_to(tmp_path: Path) -> None:
    tool = PyiqaTool(load_catalogue()["ARNIQA"], tmp_path)
    (tmp_path / "pyiqa").mkdir()
    (tmp_path / "pyiqa" / "ARNIQA.pth").write_bytes(b"")

    assert tool.missing_weights() == [tmp_path / "pyiqa" / "regressor_koniq10k.pth"]


def test_weights_of_a_backbone_have_their_own_folder(tmp_path: Path) -> None:
    assert PyiqaTool(load_catalogue()["CLIPIQA"], tmp_path).missing_weights() == [tmp_path / "clip" / "RN50.pt"]


def test_the_size_of_a_download_is_asked_of_the_server(tmp_path: Path) -> None:
    (tmp_path / "weights.pth").write_bytes(bytes(2_500_000))
    handler = functools.partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"

        told = size_in_words(f"{address}/weights.pth"), size_in_words(f"{address}/gone.pth"), size_in_words(None)

        server.shutdown()
    assert told == ("2.5 MB", "size unknown", "size unknown")


@without_pyiqa
def test_without_pyiqa_there_is_no_metric_to_name() -> None:
    assert metrics_by_name() == {}
    assert "No module named 'pyiqa'" in str(import_failure())


def test_measuring_offline_is_an_option_of_the_command(tmp_path: Path) -> None:
    Image.fromarray(photo("coffee")[:128, :128]).save(tmp_path / "photo.png")

    done = CliRunner().invoke(app, ["measure", str(tmp_path / "photo.png"), "--tools", "NIQE", "--offline"])

    assert done.exit_code == 1
    assert "NIQE is not available" in done.stderr


def test_no_connection_can_be_opened_while_the_network_is_shut() -> None:
    with no_network(), pytest.raises(OfflineError), socket.socket() as connection:
        connection.connect(("127.0.0.1", 9))


def test_no_name_can_be_looked_up_while_the_network_is_shut() -> None:
    with no_network(), pytest.raises(OfflineError):
        socket.getaddrinfo("localhost", 80)


def test_afterwards_connections_work_again() -> None:
    with no_network():
        pass

    assert socket.getaddrinfo("127.0.0.1", 80)
