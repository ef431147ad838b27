"""The evaluation report in a real Chromium: no errors, no requests, everything drawn."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser

from agenticiqa.evaluation.evaluating import evaluate_ratings
from agenticiqa.evaluation.report import write_report
from agenticiqa.evaluation.statistics import Resampling
from tests.evaluation.sets import agent_parts, rated_set, store_in


def test_the_evaluation_report_opens_without_errors_or_requests(browser: Browser, tmp_path: Path) -> None:
    parts = agent_parts()
    found = evaluate_ratings(
        rated_set(tmp_path), parts, ablations=["best-tool"], sampling=Resampling(100), store=store_in(tmp_path, parts)
    )
    write_report(found, tmp_path)
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page, troubles, requests = context.new_page(), [], []
    page.on("console", lambda message: troubles.append(message.text))
    page.on("pageerror", lambda error: troubles.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))

    page.goto((tmp_path / "report.html").as_uri())

    charts = page.locator("svg").all()
    assert len(charts) == 5
    # The lowest has two rows of bars in half the page's width.
    assert all(chart.bounding_box() and chart.bounding_box()["height"] > 30 for chart in charts)  # type: ignore[index]
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert troubles == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    context.close()
