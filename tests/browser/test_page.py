"""The page of the service in a real Chromium: from a picture to its result."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

import agenticiqa.server
from tests.browser.visits import PATIENCE, Visit
from tests.server.running import RunningService
from tests.support.results import finding, reading, record

FILES = Path(agenticiqa.server.__file__).parent / "page"
CLAIMS = "async record => (await import('/static/reasoning.js')).claimsOf(record)"
HAND_OVER = """([selector, kind, name, base64]) => {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name, { type: 'image/png' }));
  const event = kind === 'paste' ? new ClipboardEvent('paste', { clipboardData: data, bubbles: true })
    : new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true });
  document.querySelector(selector).dispatchEvent(event);
}"""


def test_an_upload_is_worked_on_before_the_eyes_and_then_answered(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page

    visitor.ask(pictures["gaussian_blur"], question="What's wrong with this photo?")
    visitor.result()

    said = " ".join(visitor.lines())
    assert said.index("Reading the question") < said.index("Looking for flaws") < said.index("Putting the answer")
    expect(page.locator(".said")).to_contain_text("blur", ignore_case=True)
    expect(page.locator(".finding-head b").first).to_have_text("Blur")
    expect(page.locator(".timeline .step.finished")).to_have_count(3)
    assert visitor.troubles == []


def test_nothing_is_asked_of_any_other_host(visitor: Visit, pictures: dict[str, Path]) -> None:
    visitor.ask(pictures["gaussian_blur"])
    visitor.result()
    visitor.page.wait_for_load_state("networkidle")

    outside = [url for url in visitor.requests if not url.startswith((visitor.address, "blob:", "data:"))]
    assert outside == []


def test_score_level_and_interval_are_those_of_the_record(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["white_noise"])
    visitor.result()
    record = copied_record(page)

    scale = page.locator(".scale").get_attribute("aria-label") or ""

    assert scale.startswith(f"{record['score']:.2f} of 5, {record['level_name']}")
    assert scale.endswith(f"{record['interval'][0]:.2f} to {record['interval'][1]:.2f}")
    expect(page.locator(".verdict .big b")).to_have_text(f"{record['score']:.1f}")
    expect(page.locator(".verdict .pill")).to_have_text(record["level_name"])
    marker = page.locator(".scale .marker").evaluate("element => parseFloat(element.style.left)")
    assert marker == pytest.approx((record["score"] - 1) / 4 * 100, abs=0.01)


def test_a_claim_leads_to_its_evidence(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["white_noise"])
    visitor.result()
    tool = copied_record(page)["tools"][0]
    visitor.unfold()

    page.locator(".claim", has_text="Noise (").get_by_role("button").click()
    expect(page.locator(".lit b").first).to_have_text("Noise")
    page.locator(".claim", has_text=tool["tool"]).last.click()

    expect(page.locator(".lit")).to_have_count(1)
    lit = page.locator(".lit")
    expect(lit).to_contain_text(tool["tool"])
    expect(lit).to_contain_text(f"{tool['calibrated']:.2f}")
    assert float(lit.locator("td").last.inner_text()) == pytest.approx(tool["raw"], rel=1e-3)
    expect(page.locator(".claim:not(.linked)")).to_have_count(0)


def test_severity_and_measurements_are_shown(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["white_noise"])
    visitor.result()
    finding = copied_record(page)["distortions"][0]

    row = page.locator(".finding").first

    expect(row.locator(".severity")).to_have_text(finding["severity"])
    strength = ["none", "slight", "moderate", "severe", "extreme"].index(finding["severity"])
    expect(row.locator(".bar i.full")).to_have_count(strength)
    expect(row).to_contain_text(finding["explanation"])
    assert "grey levels" in finding["explanation"]


def test_the_quality_map_fades_and_the_picture_zooms(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["gaussian_blur"])
    visitor.result()
    page.get_by_role("button", name="Map", exact=True).click()
    page.get_by_label("Opacity of the map").fill("20")
    page.get_by_role("button", name="Boxes").click()
    expect(page.locator(".box").first).to_be_visible()
    page.get_by_role("button", name="Boxes").click()
    page.get_by_role("button", name="Zoom in").click()

    assert page.locator("canvas.map").evaluate("element => element.style.opacity") == "0.2"
    expect(page.locator(".box").first).to_be_hidden()
    assert "scale(1.5)" in page.locator(".sheet").evaluate("element => element.style.transform")
    page.get_by_role("button", name="Map", exact=True).click()
    assert page.locator("canvas.map").evaluate("element => element.style.opacity") == "0"


def test_a_pair_is_compared_with_a_slider(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["gaussian_blur"], reference=pictures["clean"])
    visitor.result()
    expect(page.get_by_role("button", name="Before / after")).to_be_visible()
    page.get_by_role("button", name="Before / after").click()
    before = page.locator("img.before")

    page.get_by_label("Share of the reference").fill("25")
    by_slider = before.evaluate("element => element.style.clipPath")
    frame = page.locator("img.base").bounding_box()
    assert frame is not None
    page.mouse.move(frame["x"] + frame["width"] * 0.5, frame["y"] + 20)
    page.mouse.down()
    page.mouse.move(frame["x"] + frame["width"] * 0.8, frame["y"] + 20)
    page.mouse.up()

    assert by_slider == "inset(0px 75% 0px 0px)"
    assert before.evaluate("element => element.style.clipPath") == "inset(0px 20% 0px 0px)"
    expect(page.get_by_label("Share of the reference")).to_have_value("80")
    expect(page.locator(".verdict")).to_contain_text("against clean.png")
    assert visitor.troubles == []


def test_three_images_are_ranked_side_by_side(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page

    visitor.ask(pictures["gaussian_blur"], pictures["clean"], pictures["white_noise"])
    visitor.result()

    expect(page.locator(".rank")).to_have_count(3)
    expect(page.locator(".rank h3").first).to_have_text("clean.png")
    scores = [float(words) for words in page.locator(".rank .big b").all_inner_texts()]
    assert scores == sorted(scores, reverse=True)
    expect(page.locator(".pair-line")).to_have_count(3)
    expect(page.locator(".pair-line").first).to_contain_text("clean.png is better than")
    page.get_by_role("button", name="Open white_noise.png").click()
    expect(page.locator(".finding-head b").first).to_have_text("Noise")
    expect(page.locator("img.base")).to_have_attribute("alt", "white_noise.png")
    page.get_by_role("button", name="All images").click()
    expect(page.locator(".rank")).to_have_count(3)
    assert visitor.troubles == []


def test_a_chinese_question_gets_a_chinese_answer(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page

    visitor.ask(pictures["gaussian_blur"], question="这张照片清晰吗？")
    visitor.result()

    visitor.unfold()
    expect(page.locator(".said")).to_contain_text("否")
    expect(page.locator(".claim").first).to_contain_text("模糊")
    expect(page.locator(".claim").first.get_by_role("button")).to_have_text("Blur")
    expect(page.locator(".finding").first).to_contain_text("模糊半径")
    assert visitor.troubles == []


def test_a_file_that_is_no_image_is_refused_in_a_sentence(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    no_image = pictures["clean"].parent / "notes.png"
    no_image.write_text("not a picture", encoding="utf-8")

    visitor.ask(no_image)
    expect(page.get_by_role("alert").filter(has_text="notes.png")).to_contain_text("convert it to")
    empty = pictures["clean"].parent / "empty.png"
    empty.write_bytes(b"")
    page.set_input_files("#choose", empty)
    expect(page.locator("#form-trouble")).to_have_text("“empty.png” is empty. Choose another file.")
    visitor.ask(pictures["clean"])
    visitor.result()

    assert visitor.faults == []


def test_without_an_image_the_page_says_what_to_do(visitor: Visit) -> None:
    visitor.page.click("#go")

    expect(visitor.page.locator("#form-trouble")).to_contain_text("Choose an image first")


@pytest.mark.parametrize("kind", ["paste", "drop"])
def test_images_come_in_by(visitor: Visit, pictures: dict[str, Path], kind: str) -> None:
    page = visitor.page
    content = base64.b64encode(pictures["clean"].read_bytes()).decode()

    page.evaluate(HAND_OVER, ["#reference-slot", "drop", "original.png", content])
    expect(page.locator("#reference-tray .thumb")).to_have_text("original.png")
    expect(page.locator("#go")).to_have_text("Assess against the original")
    page.evaluate(HAND_OVER, ["#stage", kind, "given.png", content])

    expect(page.locator("#tray .thumb")).to_have_text("given.png")
    visitor.result()
    expect(page.locator(".verdict")).to_contain_text("given.png against original.png")


def test_an_example_can_be_tried_at_once(visitor: Visit) -> None:
    page = visitor.page
    expect(page.locator(".example")).to_have_count(6)

    page.locator(".example").first.click()
    visitor.result()

    expect(page.locator(".said")).to_contain_text("Yes")
    assert visitor.troubles == []


def test_the_record_is_copied_and_the_report_saved(visitor: Visit, pictures: dict[str, Path], tmp_path: Path) -> None:
    page = visitor.page
    visitor.ask(pictures["gaussian_blur"], question="Is it blurry?")
    visitor.result()

    record = copied_record(page)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save report").click()
    saved.value.save_as(tmp_path / "report.html")

    assert record["answer"].startswith("Yes")
    assert record["schema_version"] == 3
    assert saved.value.suggested_filename == "gaussian_blur-quality.html"
    assert "Is it blurry?" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_recent_runs_survive_a_reload(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    visitor.ask(pictures["gaussian_blur"], question="What spoils this picture most?")
    visitor.result()
    visitor.ask(pictures["white_noise"])
    visitor.result()
    score = page.locator(".verdict .big b").inner_text()

    page.reload()
    visitor.result()

    expect(page.locator(".verdict .big b")).to_have_text(score)
    expect(page.locator("#recent b")).to_have_text(["white_noise.png", "gaussian_blur.png"])
    page.locator("#recent button").last.click()
    expect(page.locator(".finding-head b").first).to_have_text("Blur")
    visitor.unfold()
    expect(page.locator(".timeline .subtasks li").first).to_be_visible()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#recent li")).to_have_count(0)
    assert visitor.troubles == []


def test_a_link_opens_a_run_in_another_browser(visitor: Visit, pictures: dict[str, Path]) -> None:
    visitor.ask(pictures["gaussian_blur"])
    visitor.result()
    link = visitor.page.url
    visitor.page.evaluate("localStorage.clear()")

    visitor.page.goto("about:blank")
    visitor.page.goto(link)
    visitor.result()

    expect(visitor.page.locator(".verdict")).to_contain_text("gaussian_blur.png")


@pytest.mark.parametrize(
    ("mark", "said"), [("%E0%A4%A", ""), ("stage", ""), ("0" * 24, "The service no longer has this run.")]
)
def test_an_address_that_names_no_run_leaves_the_page_at_work(visitor: Visit, mark: str, said: str) -> None:
    visitor.page.goto("about:blank")
    visitor.page.goto(f"{visitor.address}#{mark}")

    expect(visitor.page.locator("#health span")).to_have_text("ready", timeout=PATIENCE)
    expect(visitor.page.locator("#form-trouble")).to_contain_text(said)
    assert visitor.page.locator("#form-trouble").is_visible() == bool(said)
    assert visitor.faults == []


def test_a_new_plan_is_told_as_a_timeline(visitor: Visit, pictures: dict[str, Path]) -> None:
    page = visitor.page
    # A question of its own: one that was answered before is answered again without new steps.
    visitor.ask(pictures["gaussian_blur"], question="What is wrong with this picture?")
    visitor.result()
    run = page.evaluate("JSON.parse(localStorage.getItem('agenticiqa.runs'))[0]")
    again = [{**event, "data": {**event["data"], "iteration": 1}} for event in run["events"] if event["type"] == "node"]
    run["events"] += again
    run["assessment"]["replan_history"] = ["[Iteration 1] Missing tool scores for vehicle region"]
    page.evaluate("run => localStorage.setItem('agenticiqa.runs', JSON.stringify([run]))", run)

    page.reload()
    visitor.result()

    expect(page.locator(".timeline h4")).to_have_text(["Pass 1", "Pass 2"])
    expect(page.locator(".replan")).to_have_text("New plan, because: Missing tool scores for vehicle region")


def test_claims_are_tied_to_the_values_they_were_made_of(visitor: Visit) -> None:
    blur = {"category": "Blurs", "probability": 0.9, "strength": 3.0}
    made_of = [("finding", "", blur), ("tool", "BRISQUE", None), ("judgement", "AIQA_NR", None), ("fact", "size", None)]
    reasons = [
        {"text": f"{kind}. It holds 2.5.", "kind": kind, "place": "Global", "name": name, "distortion": distortion}
        for kind, name, distortion in made_of
    ]
    found = record(notes=[], distortions=[finding("Blurs", "severe")], tools=[reading("BRISQUE", 2.0)])

    claims = visitor.page.evaluate(CLAIMS, {**found, "reasons": reasons})

    assert [claim["targets"] for claim in claims] == [
        ["evidence-finding-0"],
        ["evidence-tool-0"],
        ["evidence-score"],
        [],
    ]


def test_the_words_of_a_model_without_values_are_not_taken_apart(visitor: Visit) -> None:
    words = "The car looks soft at 2.5 px of blur. BRISQUE agrees. Overall quality is low."

    claims = visitor.page.evaluate(CLAIMS, {**record(reasoning=words), "reasons": []})

    assert claims == [{"words": words, "targets": []}]


def test_the_files_of_the_page_are_small_and_complete() -> None:
    sizes = {file.name: file.stat().st_size for file in FILES.iterdir()}
    texts = "".join(file.read_text(encoding="utf-8") for file in FILES.iterdir())

    assert sum(sizes.values()) < 300_000
    assert "http://" not in texts.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in texts
    assert "innerHTML" not in texts


def test_the_page_is_sent_with_a_strict_policy(page_service: RunningService) -> None:
    with page_service.client() as client:
        policy = client.get("/").headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def copied_record(page: Page) -> dict[str, Any]:
    """The record as the clipboard gets it."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy JSON").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    found: dict[str, Any] = json.loads(page.evaluate("navigator.clipboard.readText()"))
    return found
