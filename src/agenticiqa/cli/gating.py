"""What `assess` and `batch` share of the gate: its options, its outputs, its exit code."""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenticiqa.errors import RuleError
from agenticiqa.logs import printable, printable_lines

if TYPE_CHECKING:
    from agenticiqa.config import Settings
    from agenticiqa.gate.gatekeeping import Failure, Gate, GateReport, JudgeFlaws, LocateObjects, MeasureTool

NO_PICTURE_CODE = 2
"""Exit code of a gate that no picture was held against: its patterns are wrong."""
FAILED_CODE = 3
"""Exit code of a picture that meets a rule it must not meet; 1 is a failure, 2 a wrong request."""

FailUnder = Annotated[
    float | None,
    typer.Option("--fail-under", metavar="SCORE", min=1, max=5, help="Fail pictures that score below this (1 to 5)."),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-if", metavar="RULE", help="Fail pictures where this holds: 'SSIM < 0.95', 'blur >= moderate'."
    ),
]
Require = Annotated[
    list[str] | None,
    typer.Option(
        "--require", metavar="RULE", help="Fail pictures where this does not hold: 'face: sharp', 'score >= 3'."
    ),
]
GateFile = Annotated[
    Path | None,
    typer.Option(
        "--gate",
        metavar="FILE",
        help="TOML file of such rules per folder or name; default: ./agenticiqa.toml if there.",
    ),
]
JUnit = Annotated[Path | None, typer.Option("--junit", help="Also write passes and failures as JUnit XML.")]
GitHub = Annotated[bool, typer.Option("--github", help="Print failures as GitHub annotations too.")]
# XML 1.0 has no way to write these, however they are escaped.
_FORBIDDEN = {number: "\ufffd" for number in range(32) if number not in (9, 10, 13)}
# Failures that are printed; --json has all.
_SHOWN = 50


def open_gate(
    fail_under: float | None,
    fail_if: list[str] | None,
    file: Path | None,
    settings: Settings,
    require: list[str] | None = None,
) -> Gate:
    """The gate these options describe; what nobody can measure or locate is refused before the work."""
    from agenticiqa.gate.gatekeeping import SETTINGS_FILE, Gate, gate_sections

    found = file or (Path(SETTINGS_FILE) if Path(SETTINGS_FILE).is_file() else None)
    sections = gate_sections(fail_under, fail_if or (), found, require or ())
    gate = Gate(sections, measuring(settings), locating(settings), judging_flaws(settings))
    tools_of(gate, settings)
    gate.require_known_objects()
    return gate


def tools_of(gate: Gate, settings: Settings) -> list[str]:
    """The names of the tools that the gate's rules need; RuleError names one that does not exist."""
    from agenticiqa.gate.rule_evaluation import RULE_WORDS, TOOL_NAMES
    from agenticiqa.gate.rules import flaws_like, folded
    from agenticiqa.parts import tools_for

    wanted = [TOOL_NAMES.get(name, name) for name in gate.measurements()]
    known = {folded(name): name for name in tools_for(settings).names()} if wanted else {}
    for name in wanted:
        if name not in known:
            words = dict.fromkeys([*RULE_WORDS, *known, *TOOL_NAMES])
            close = difflib.get_close_matches(name, words, 3) or flaws_like(name)
            hint = f"did you mean {', '.join(close)}?" if close else "`agenticiqa tools` lists what can be measured"
            raise RuleError(f"nothing measures {name!r}; {hint}")
    return [known[name] for name in wanted]


def measuring(settings: Settings) -> MeasureTool:
    """Measures what a rule names and the record lacks."""

    def measure_tool(record: Mapping[str, Any], tool: str) -> float:
        from agenticiqa.assessor.tool_measurements import measure_with
        from agenticiqa.gate.rules import folded
        from agenticiqa.parts import tools_for

        registry = tools_for(settings)
        name = next(name for name in registry.names() if folded(name) == tool)
        store, reference = settings.image_store(), record.get("reference_path")
        return measure_with(registry, store, record["image_path"], reference, [name], "resize")[name].raw

    return measure_tool


def locating(settings: Settings) -> LocateObjects:

    def locate_objects(record: Mapping[str, Any], names: Sequence[str]) -> Mapping[str, Any]:
        from agenticiqa.assessor.regions import assess_regions

        image = settings.image_store().open(record["image_path"])
        found = assess_regions(image, None, {}, names, settings.pipeline.terms)
        return {name: region and region.model_dump(mode="json") for name, region in found.items()}

    return locate_objects


def judging_flaws(settings: Settings) -> JudgeFlaws:
    """Judges the distortions that a rule names and the question did not need."""

    def judge_flaws(record: Mapping[str, Any]) -> Mapping[str, str]:
        from agenticiqa.assessor.regions import whole_findings

        store, reference = settings.image_store(), record.get("reference_path")
        original = None if reference is None else store.open(reference)
        found = whole_findings(store.open(record["image_path"]), original, settings.pipeline.terms)
        return {finding.type: finding.severity for finding in found}

    return judge_flaws


def tell(gate: Gate, names: Iterable[str], junit: Path | None, github: bool, beside_json: bool) -> None:
    if gate:
        typer.echo(in_words(gate.report), err=True)
    if junit is not None:
        from agenticiqa.outputs import write_whole

        write_whole(junit, junit_xml(gate.report, names))
    if github and gate.report.failures:
        # Runners read both streams; beside --json the first one belongs to the object.
        typer.echo(github_annotations(gate.report), err=beside_json)


def gate_code(gate: Gate) -> int:
    """3 where a rule was met, 1 where one could not be judged, 2 where no rule was for any picture, else 0."""
    if gate and gate.report.is_void:
        return NO_PICTURE_CODE
    if gate.report.failed:
        return FAILED_CODE
    return 1 if gate.report.unknown else 0


def in_words(report: GateReport) -> str:
    """One line per failing picture and rule, then the counts."""
    lines = [_line(failure) for failure in report.failures[:_SHOWN]]
    if len(report.failures) > _SHOWN:
        lines.append(f"… and {len(report.failures) - _SHOWN} more; --json lists all")
    lines += [f"{rule}: not applied to {_pictures(count)}" for rule, count in report.not_applied.items()]
    failed = len({failure.sample_id for failure in report.failed})
    unknown = len({failure.sample_id for failure in report.unknown})
    lines += report.unused_sections.values()
    others = f"; no rule is for {_pictures(len(report.not_checked))}" if report.not_checked else ""
    lines.append(f"{report.checked} checked: {failed} failed, {unknown} could not be judged{others}")
    return printable_lines(lines)


def _pictures(count: int) -> str:
    return "1 picture" if count == 1 else f"{count} pictures"


def junit_xml(report: GateReport, names: Iterable[str], suite: str = "agenticiqa") -> str:
    """The report as JUnit XML: one test case per picture, a failure per rule it met, an error where none could say.

    A picture that no rule is for is skipped; so is a section that is for no picture, which is an error if all are.
    """
    from xml.etree import ElementTree

    outcomes: defaultdict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for failure in report.failures:
        kind = "failure" if failure.outcome == "failed" else "error"
        outcomes[failure.sample_id].append((kind, f"{failure.rule}: {failure.reason}", _line(failure)))
    for name in report.not_checked:
        outcomes[name].append(("skipped", "no rule is for it", ""))
    for pattern, said in report.unused_sections.items():
        outcomes[f"section {pattern}"].append(("error" if report.is_void else "skipped", said, said))
    cases = [*names, *(f"section {pattern}" for pattern in report.unused_sections)]
    # A case counts once, as the worst that is told of it.
    kinds = [{kind for kind, _, _ in outcomes[name]} for name in cases]
    failures = sum("failure" in each for each in kinds)
    errors = sum("error" in each and "failure" not in each for each in kinds)
    counts = {"tests": len(cases), "failures": failures, "errors": errors, "skipped": kinds.count({"skipped"})}
    root = ElementTree.Element("testsuite", {"name": suite, **{name: str(count) for name, count in counts.items()}})
    for name in cases:
        case = ElementTree.SubElement(root, "testcase", classname=suite, name=_xml(name))
        for kind, message, text in outcomes[name]:
            ElementTree.SubElement(case, kind, message=_xml(message)).text = _xml(text) or None
    ElementTree.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, "unicode") + "\n"


def github_annotations(report: GateReport) -> str:
    """One workflow command per failure, which GitHub shows at the file."""
    return "\n".join(
        f"::error file={_property(failure.image_path or failure.sample_id)},title={_property(failure.rule)}::"
        f"{_message(_line(failure))}"
        for failure in report.failures
    )


def _line(failure: Failure) -> str:
    score = "no score" if failure.score is None else f"score {failure.score:.2f}"
    broken = "does not meet" if failure.required else "fails by"
    verb = broken if failure.outcome == "failed" else "cannot be held against"
    return f"{failure.sample_id}: {score}, {verb} `{failure.rule}` ({failure.reason})"


def _xml(text: str) -> str:
    return text.encode("utf-8", "replace").decode().translate(_FORBIDDEN)


def _message(text: str) -> str:
    # GitHub's own spelling where it has one, so that the file is found; ours for every other control character.
    return printable(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
