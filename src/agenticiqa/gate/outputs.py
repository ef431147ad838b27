"""A gate's report for people and machines: lines for a terminal, JUnit XML, annotations for GitHub."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from xml.etree import ElementTree

from agenticiqa.gate.gatekeeping import Failure, GateReport

# XML 1.0 has no way to write these, however they are escaped.
_FORBIDDEN = {number: "\ufffd" for number in range(32) if number not in (9, 10, 13)}
_SHOWN = 50


def in_words(report: GateReport) -> str:
    """One line per failing picture and rule, then the counts."""
    lines = [_line(failure) for failure in report.failures[:_SHOWN]]
    if len(report.failures) > _SHOWN:
        lines.append(f"… and {len(report.failures) - _SHOWN} more; --json lists all")
    failed = len({failure.sample_id for failure in report.failed})
    unknown = len({failure.sample_id for failure in report.unknown})
    lines.append(f"{report.checked} checked: {failed} failed, {unknown} could not be judged")
    return "\n".join(lines)


def junit_xml(report: GateReport, names: Iterable[str], suite: str = "agenticiqa") -> str:
    """The report as JUnit XML: one test case per picture, a failure per rule it met, an error where none could say."""
    by_name: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in report.failures:
        by_name[failure.sample_id].append(failure)
    cases = list(names)
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(cases)),
        failures=str(sum(any(f.outcome == "failed" for f in by_name[name]) for name in cases)),
        errors=str(sum(bool(by_name[name]) and all(f.outcome == "unknown" for f in by_name[name]) for name in cases)),
    )
    for name in cases:
        case = ElementTree.SubElement(root, "testcase", classname=suite, name=_xml(name))
        for failure in by_name[name]:
            kind = "failure" if failure.outcome == "failed" else "error"
            told = ElementTree.SubElement(case, kind, message=_xml(f"{failure.rule}: {failure.reason}"))
            told.text = _xml(_line(failure))
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
    broken = "does not meet" if failure.rule.startswith("require ") else "fails by"
    verb = broken if failure.outcome == "failed" else "cannot be held against"
    return f"{failure.sample_id}: {score}, {verb} `{failure.rule}` ({failure.reason})"


def _xml(text: str) -> str:
    return text.encode("utf-8", "replace").decode().translate(_FORBIDDEN)


def _message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
