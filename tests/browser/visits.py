"""A person at the page: what they see, what went wrong, and pictures to show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from agenticiqa.tools.synthetic.kinds import distort
from agenticiqa.tools.synthetic.ladder import photographs
from tests.support.photos import save

# An upper bound only: states are waited for. A busy machine may need a minute to start a worker anew.
PATIENCE = 180_000
# The browser itself reports answers that are errors; where a test provokes one, this line is expected.
REFUSED = "Failed to load resource"
WATCH = """() => {
  window.lines = [];
  new MutationObserver(() => {
    const line = document.querySelector('.doing')?.textContent;
    if (line && window.lines.at(-1) !== line) window.lines.push(line);
  }).observe(document.getElementById('stage'), { childList: true, subtree: true, characterData: true });
}"""


@dataclass
class Visit:
    """A page, its origin, everything that went wrong on it and every address it asked for."""

    page: Page
    address: str
    troubles: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def listen(self) -> None:
        """Notes errors and requests from now on."""
        self.page.set_default_timeout(PATIENCE)
        self.page.on("console", self._note)
        self.page.on("pageerror", lambda error: self.troubles.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self) -> None:
        """The page, listening, with its progress lines recorded."""
        self.page.goto(self.address)
        expect(self.page.locator("#questions button").first).to_be_visible()
        self.page.evaluate(WATCH)

    def ask(self, *images: Path, question: str = "", reference: Path | None = None) -> None:
        """Writes the question and chooses the images, which are judged at once."""
        self.page.fill("#question", question)
        if reference:
            self.page.set_input_files("#choose-reference", reference)
        self.page.set_input_files("#choose", images)

    def unfold(self) -> None:
        """Opens how the picture was judged."""
        self.page.locator(".judged > summary").click()

    def result(self) -> None:
        """Waits for the result."""
        expect(self.page.locator("#stage .result")).to_be_visible(timeout=PATIENCE)

    def lines(self) -> list[str]:
        """What the progress said, line by line."""
        found: list[str] = self.page.evaluate("window.lines")
        return found

    @property
    def faults(self) -> list[str]:
        """The troubles that no refused request explains."""
        return [trouble for trouble in self.troubles if REFUSED not in trouble]

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.troubles.append(f"{message.type}: {message.text}")


@contextmanager
def visiting(
    browser: Browser, address: str, width: int = 1280, scheme: Any = "light", height: int = 900
) -> Iterator[Visit]:
    """A visit with a window of this size in this scheme, nothing moving."""
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    )
    visit = Visit(context.new_page(), address)
    visit.listen()
    visit.open()
    yield visit
    context.close()


def all_faults(page: Page) -> list[str]:
    """Everything axe finds, however slight, with the elements concerned."""
    found = Axe().run(page).response["violations"]
    return [
        f"{fault['id']}: {node['target']} {node.get('failureSummary')}" for fault in found for node in fault["nodes"]
    ]


def tab_to(page: Page, selector: str, backwards: bool = False) -> None:
    """Presses Tab until the element has the focus."""
    key = "Shift+Tab" if backwards else "Tab"
    for _ in range(120):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{selector} cannot be reached with {key}")


def write_pictures(folder: Path, kinds: Sequence[str] = ("gaussian_blur", "white_noise")) -> dict[str, Path]:
    """A clean cat and damaged ones, small enough to be judged quickly."""
    clean = photographs()["chelsea"].pixels[40:232, 60:316]
    found = {"clean": save(folder / "clean.png", clean)}
    for kind in kinds:
        found[kind] = save(folder / f"{kind}.png", distort(clean, kind, 4))
    return found
