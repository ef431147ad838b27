"""What an agent reads: results in words whose first line is a sentence, reports to open, and prompts."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from mcp.server.mcpserver.exceptions import ResourceNotFoundError

from agenticiqa.assessor import Assessment, Ranking, wording
from agenticiqa.images import NamedBytes
from agenticiqa.mcp.arguments import SentenceServer
from agenticiqa.report.page import single_page
from agenticiqa.state import LEVEL_NAMES

# Names of faulty pictures that are said of each fault; reports that are kept.
SHOWN = 8
KEPT = 8
PAGE = "text/html"


def assessment_in_words(found: Assessment) -> str:
    """A sentence with the answer, one with the score, then the reasons."""
    answer = found.answer.strip().rstrip(".")
    levels: Mapping[str, str] = {letter: name.lower() for letter, name in LEVEL_NAMES.items()}
    if answer in found.choices:
        said = f"The answer is {answer}: {found.choices[answer]}."
    elif answer in levels:
        said = f"The quality is {levels[answer]}."
    else:
        said = f"The answer is: {answer}."
    score = wording.score_in_words(found)
    if found.score is None:
        score = f"no score ({found.error or 'none was asked for'})"
    return f"{said} The image scores {score}.\n{found.reasoning}"


def ranking_in_words(ranking: Ranking) -> str:
    """A sentence with the answer, then a line per image."""
    best = ranking.entries[0]
    close = [pair.second for pair in ranking.pairs if pair.first == best.name and pair.verdict != "better"]
    if ranking.answer:
        said = f"The answer is: {ranking.answer}."
    elif close:
        said = f"No clear difference between {best.name} and {', '.join(close)}."
    else:
        said = f"The best is {best.name}."
    return "\n".join([said, *(wording.place_in_words(entry, ranking) for entry in ranking.entries)])


def numbers_in_words(values: Mapping[str, float | None], image: str) -> str:
    shown = [f"{name} {'not measured' if value is None else format(value, '.6g')}" for name, value in values.items()]
    # An image that came along is named by all its bytes.
    return f"Measured on {image if len(image) < 100 else 'the image sent'}: {'; '.join(shown)}."


def faults_in_words(issues: Mapping[str, list[str]], faulty: int, pictures: int) -> str:
    """A sentence with the count, then a line per fault with the first few names."""
    if not faulty:
        return f"Nothing wrong was found in {pictures} pictures."
    lines = [f"{issue} ({len(names)}): {', '.join(names[:SHOWN])}" for issue, names in issues.items()]
    return "\n".join([f"{faulty} of {pictures} pictures have a fault; of copies one is no fault.", *lines])


class Reports:
    """The last assessments with their pictures; the newest is number 1."""

    def __init__(self) -> None:
        self._kept: deque[tuple[Assessment, NamedBytes]] = deque(maxlen=KEPT)

    def add(self, found: Assessment, image: NamedBytes) -> None:
        """Keeps one more; the oldest goes."""
        self._kept.appendleft((found, image))

    def index(self) -> str:
        """A line per report: its address, the image, the answer and the score."""
        lines = [
            f"report://{number} {image.name}: {found.answer}"
            for number, (found, image) in enumerate(self._kept.copy(), 1)
        ]
        return "\n".join(lines) or "Nothing has been assessed yet; call assess_image first."

    def page(self, number: str) -> str:
        """The page of one; raises ResourceNotFoundError for a number that is not there."""
        numbered = {str(place): one for place, one in enumerate(self._kept.copy(), 1)}
        if number not in numbered:
            there = (
                f"there are reports 1 to {len(numbered)}" if numbered else "nothing was assessed yet; call assess_image"
            )
            raise ResourceNotFoundError(f"there is no report {number}; {there}")
        found, image = numbered[number]
        return single_page({**found.model_dump(mode="json"), "sample_id": image.name}, image)

    def offer_on(self, server: SentenceServer) -> None:
        """Adds the list, the last report and one address for each of the others."""
        server.resource("report://list", name="reports", description="the last assessments, the newest first")(
            self.index
        )

        @server.resource("report://last", name="last report", mime_type=PAGE, description="of the last assessment")
        def last() -> str:
            return self.page("1")

        @server.resource(
            "report://{number}", name="report", mime_type=PAGE, description=f"1 (the newest) to {KEPT} (the oldest)"
        )
        def numbered(number: str) -> str:
            return self.page(number)


def add_prompts(server: SentenceServer) -> None:
    """Offers both to the agent's host."""

    @server.prompt("check_a_folder", description="Find the bad pictures of a folder and say why each is bad")
    def check_a_folder(folder: str) -> str:
        return (
            f"Call audit_folder on {folder}. For up to five of the worst pictures call assess_image with the question "
            "'What is wrong with this photo?'. Answer with a table: file, score, what is wrong, keep or drop."
        )

    @server.prompt("compare_two_exports", description="Say which export keeps more of the original, and what was lost")
    def compare_two_exports(original: str, first: str, second: str) -> str:
        return (
            f"Call compare_images with {first} and {second} and the reference {original}. Then call assess_image on "
            f"the lower one with the reference {original} and the question 'What was lost?'. Answer in three sentences."
        )
