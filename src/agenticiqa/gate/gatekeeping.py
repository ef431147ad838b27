"""Many results held against the rules they must not meet: which pictures fail, by which rule, and why."""

from __future__ import annotations

import logging
import os
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from agenticiqa.errors import AgenticIQAError, RuleError, SettingsError
from agenticiqa.gate.rule_evaluation import TOOL_NAMES, Verdict, is_measurement, judge, unjudged_category
from agenticiqa.gate.rules import Rule, comparisons, folded, objects_of, parse_rule
from agenticiqa.question.object_words import names_like, object_called

logger = logging.getLogger("agenticiqa.gate")

SETTINGS_FILE = "agenticiqa.toml"
_KEYS = ("fail_under", "fail_if", "require")

LocateObjects = Callable[[Mapping[str, Any], Sequence[str]], Mapping[str, Any]]
"""Locates and judges things in a record's picture, as the JSON values of an assessment's regions."""
MeasureTool = Callable[[Mapping[str, Any], str], float]
"""Measures a record's picture with a tool; raises AgenticIQAError."""
JudgeFlaws = Callable[[Mapping[str, Any]], Mapping[str, str]]
"""The severity of each distortion there is in a record's whole picture, by category; raises AgenticIQAError."""


@dataclass(frozen=True)
class Threshold:
    """A rule as it was written; it fails a picture where it holds or, if it is `required`, where it does not."""

    text: str
    rule: Rule
    required: bool = False


@dataclass(frozen=True)
class Section:
    """The thresholds of the pictures a pattern names; None names all."""

    pattern: str | None
    thresholds: tuple[Threshold, ...]
    file: Path | None = None
    """Where it is written, if it was not given by hand."""

    def names(self, record: Mapping[str, Any]) -> bool:
        """Whether the record's picture is meant: by its path seen from the folder of the file with the patterns.

        The path counts as it was given and with links followed. Outside that folder a picture is meant by its name; a
        pattern without a slash is held against the file's name alone.
        """
        if self.pattern is None:
            return True
        pictures = self._pictures(record)
        held = pictures if "/" in self.pattern else [picture.rpartition("/")[2] for picture in pictures]
        return any(_compiled(self.pattern).fullmatch(name) for name in held)

    def named_nothing(self, record: Mapping[str, Any]) -> tuple[str, bool]:
        """Says that the pattern names no picture, with what might name a record's, and whether it would."""
        said = (
            f"section `{self.pattern}` of {self.file} names no picture; patterns are seen from the folder of that file"
        )
        picture, pattern = self._pictures(record)[0], _compiled(self.pattern or "")
        folders = picture.split("/")
        for depth in range(1, len(folders)):
            if pattern.fullmatch("/".join(folders[depth:])):
                return f"{said}, for example `{'/'.join(folders[:depth])}/{self.pattern}`", True
        return f"{said}, where a picture of this run is `{picture}`", False

    def _pictures(self, record: Mapping[str, Any]) -> list[str]:
        """The names a pattern may know the record's picture by."""
        given = record.get("image_path")
        if self.file is None or not given:
            return [str(record["sample_id"])]
        folder = os.path.dirname(os.path.abspath(self.file))
        seen = [
            Path(path).relative_to(root).as_posix()
            for root in (folder, os.path.realpath(folder))
            for path in (os.path.abspath(given), os.path.realpath(given))
            if Path(path).is_relative_to(root)
        ]
        return list(dict.fromkeys(seen)) or [str(record["sample_id"])]


@dataclass(frozen=True)
class Failure:
    """A picture that did not pass; `unknown` means that the rule could not be judged, which is no pass either."""

    sample_id: str
    image_path: str | None
    score: float | None
    rule: str
    reason: str
    outcome: Literal["failed", "unknown"]
    required: bool = False
    """Whether the rule had to hold; the others fail a picture where they do."""


@dataclass
class GateReport:
    """What a gate saw: how many pictures a rule was for, those that did not pass, and what was for none."""

    checked: int = 0
    failures: list[Failure] = field(default_factory=list)
    not_applied: Counter[str] = field(default_factory=Counter)
    """Pictures in which nothing of the name a rule is on was found, by the rule and that reason."""
    not_checked: list[str] = field(default_factory=list)
    """The pictures that no rule was for."""
    unused_sections: dict[str, str] = field(default_factory=dict)
    """Patterns that were for no picture so far, and how to say so."""

    @property
    def is_void(self) -> bool:
        """Whether there were pictures and no rule was for any of them, so that none of them passed anything."""
        return bool(self.not_checked) and not self.checked

    @property
    def failed(self) -> list[Failure]:
        return [failure for failure in self.failures if failure.outcome == "failed"]

    @property
    def unknown(self) -> list[Failure]:
        """Those that a rule could not be judged on."""
        return [failure for failure in self.failures if failure.outcome == "unknown"]

    def as_dict(self) -> dict[str, Any]:
        return {
            "checked": self.checked,
            "passed": self.checked - len({failure.sample_id for failure in self.failures}),
            "failures": [asdict(failure) for failure in self.failures],
            "not_applied": dict(self.not_applied),
            "not_checked": list(self.not_checked),
            "unused_sections": list(self.unused_sections.values()),
        }


class Gate:
    """Sections of thresholds; of those that name a picture the last one counts."""

    def __init__(
        self,
        sections: Sequence[Section],
        measure: MeasureTool | None = None,
        locate: LocateObjects | None = None,
        judge_flaws: JudgeFlaws | None = None,
    ) -> None:
        self.sections = tuple(sections)
        self._locate = locate
        self._judge_flaws = judge_flaws
        self.report = GateReport()
        self._measure = measure
        self._unused = {section.pattern: section for section in self.sections if section.pattern}
        self._hinted: set[str] = set()

    def __bool__(self) -> bool:
        return any(section.thresholds for section in self.sections)

    def _rules(self) -> Iterator[Rule]:
        return (threshold.rule for section in self.sections for threshold in section.thresholds)

    def measurements(self) -> list[str]:
        """The measurements that the rules name, as they are written there, each once."""
        found = (each for rule in self._rules() for each in comparisons(rule))
        return list(dict.fromkeys(each.name for each in found if is_measurement(each)))

    def objects(self) -> list[str]:
        """The things that have to be located for the rules, each once."""
        return list(dict.fromkeys(name for rule in self._rules() for name in objects_of(rule)))

    def require_known_objects(self) -> None:
        """Raises RuleError for a name that nothing can be located by, with names like it: it would never be found."""
        from agenticiqa.embedded.regions.places import PLACES, place_called

        for name in self.objects():
            if place_called(name) not in PLACES and object_called(name) is None:
                close = names_like(name)
                hint = f"did you mean {' or '.join(close)}?" if close else "docs/objects.md lists what can be"
                raise RuleError(f"nothing called {name!r} can be located; {hint}")

    def check(self, record: Mapping[str, Any]) -> list[Failure]:
        """Judges one record, adds what failed to the report, and returns it."""
        thresholds = self._thresholds(record)
        found = [failure for threshold in thresholds if (failure := self._judge(threshold, record))]
        if thresholds:
            self.report.checked += 1
        elif self:
            self.report.not_checked.append(str(record["sample_id"]))
        self.report.failures += found
        return found

    def _thresholds(self, record: Mapping[str, Any]) -> tuple[Threshold, ...]:
        naming = [section for section in self.sections if section.names(record)]
        if naming and naming[-1].pattern:
            self._unused.pop(naming[-1].pattern, None)
            self.report.unused_sections.pop(naming[-1].pattern, None)
        for pattern, section in self._unused.items():
            self._note_unused(pattern, section, record, is_named=section in naming)
        return naming[-1].thresholds if naming else ()

    def _note_unused(self, pattern: str, section: Section, record: Mapping[str, Any], is_named: bool) -> None:
        """Keeps the most helpful thing to say of a section that was for no picture yet."""
        if is_named:
            later = "later sections name each of its pictures, and the last one counts"
            said, helps = f"section `{pattern}` of {section.file} is for no picture; {later}", True
        elif pattern in self._hinted:
            return
        else:
            said, helps = section.named_nothing(record)
        if helps:
            self._hinted.add(pattern)
            self.report.unused_sections[pattern] = said
        else:
            self.report.unused_sections.setdefault(pattern, said)

    def _judge(self, threshold: Threshold, record: Mapping[str, Any]) -> Failure | None:
        assessment = record.get("assessment")
        verdict = Verdict("unknown", str(record.get("error") or "there is no assessment"))
        if assessment is not None:
            verdict = judge(threshold.rule, self._completed(threshold.rule, record))
        is_met = verdict.outcome in (("fails", "absent") if threshold.required else ("holds",))
        if verdict.outcome == "absent" and not is_met:
            self.report.not_applied[f"`{threshold.text}` ({verdict.reason})"] += 1
        if not is_met and verdict.outcome != "unknown":
            return None
        return Failure(
            str(record["sample_id"]),
            record.get("image_path"),
            (assessment or {}).get("score"),
            threshold.text,
            verdict.reason,
            "failed" if is_met else "unknown",
            threshold.required,
        )

    def _completed(self, rule: Rule, record: Mapping[str, Any]) -> dict[str, Any]:
        """The assessment with what the rule compares measured, judged and located, where that was not done."""
        found = dict(record["assessment"])
        found["tools"] = [*(found.get("tools") or []), *self._measured(rule, record, found)]
        for complete in (self._distortions, self._regions):
            try:
                found |= complete(rule, record, found)
            except AgenticIQAError as error:
                # The rule then cannot be judged, which is said and is no pass.
                logger.warning("%s: %s", record["sample_id"], error)
        return found

    def _regions(self, rule: Rule, record: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
        regions = found.get("regions") or {}
        known = {folded(name) for name in regions}
        missing = [name for name in objects_of(rule) if folded(name) not in known]
        return {"regions": {**regions, **self._locate(record, missing)}} if missing and self._locate else {}

    def _distortions(self, rule: Rule, record: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, Any]:
        categories = (unjudged_category(each, found) for each in comparisons(rule))
        missing = sorted({category for category in categories if category is not None})
        if not missing or self._judge_flaws is None:
            return {}
        severities = self._judge_flaws(record)
        kept = [
            finding
            for finding in found.get("distortions") or []
            if finding["object_name"] != "Global" or finding["type"] not in missing
        ]
        judged = [
            {"object_name": "Global", "type": category, "severity": severities.get(category, "none")}
            for category in missing
        ]
        return {"distortions": kept + judged}

    def _measured(self, rule: Rule, record: Mapping[str, Any], found: Mapping[str, Any]) -> list[dict[str, Any]]:
        readings = [_reading(tool, raw) for tool, raw in (record.get("measurements") or {}).items()]
        both = [*(found.get("tools") or []), *readings]
        known = {folded(reading["tool"]) for reading in both if reading["object_name"] == "Global"}
        for each in comparisons(rule):
            tool = TOOL_NAMES.get(each.name, each.name)
            if self._measure is None or not is_measurement(each) or tool in known:
                continue
            try:
                readings.append(_reading(tool, self._measure(record, tool)))
            except AgenticIQAError as error:
                readings.append({**_reading(tool, None), "reason": str(error)})
        return readings


def thresholds(fail_under: float | None, fail_if: Iterable[str], require: Iterable[str]) -> tuple[Threshold, ...]:
    """What the options of a section, or of the command line, spell; raises RuleError."""
    met = [*([] if fail_under is None else [f"score < {fail_under:g}"]), *fail_if]
    required = (Threshold(f"require {text}", parse_rule(text), required=True) for text in require)
    return (*(Threshold(text, parse_rule(text)) for text in met), *required)


def gate_sections(
    fail_under: float | None, fail_if: Iterable[str], file: Path | None, require: Iterable[str] = ()
) -> list[Section]:
    """The sections of a file, if there is one; rules given by hand are added to each and stand for all pictures."""
    given = thresholds(fail_under, fail_if, require)
    read = read_sections(file) if file is not None else []
    own = [Section(None, given)] if given or read else []
    return [*own, *(replace(each, thresholds=each.thresholds + given) for each in read)]


def read_sections(path: Path) -> list[Section]:
    """The `[gate]` section of a TOML file and those named by pattern inside it; SettingsError says what is wrong."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8")).get("gate", {})
    except FileNotFoundError as error:
        raise SettingsError(f"{path}: no such file; check the path") from error
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read ({error.strerror}); name a file you may read") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(f"{path}: cannot be read ({error}); correct it") from error
    own = {name: value for name, value in content.items() if not isinstance(value, dict)}
    named = {name: value for name, value in content.items() if isinstance(value, dict)}
    sections = [_section(path, None, own)] if own else []
    sections += [_section(path, pattern, values) for pattern, values in named.items()]
    if not any(section.thresholds for section in sections):
        raise SettingsError(f"{path}: holds no rule; write one under [gate], such as `fail_under = 2`, or remove it")
    return sections


def _section(path: Path, pattern: str | None, values: Mapping[str, Any]) -> Section:
    where = f"{path}: [gate{'' if pattern is None else '.' + repr(pattern)}]"
    if unknown := sorted(set(values) - set(_KEYS)):
        raise SettingsError(f"{where}: unknown key {unknown[0]!r}; use {' and '.join(_KEYS)}")
    under = values.get("fail_under")
    if under is not None and (isinstance(under, bool) or not isinstance(under, int | float)):
        raise SettingsError(f"{where}: fail_under must be a number, not {under!r}")
    lists = {key: [found] if isinstance(found := values.get(key, []), str) else found for key in ("fail_if", "require")}
    for key, rules in lists.items():
        if not isinstance(rules, list) or not all(isinstance(rule, str) for rule in rules):
            raise SettingsError(f'{where}: {key} must be rules like ["SSIM < 0.95"], not {rules!r}')
    try:
        return Section(pattern, thresholds(under, **lists), path)
    except RuleError as error:
        raise SettingsError(f"{where}: {error}") from error


def _reading(tool: str, raw: float | None) -> dict[str, Any]:
    return {"tool": tool, "object_name": "Global", "raw": raw}


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """A glob: `**/` is any folders, `*` and `?` stay inside one name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    spelled = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(spelled.get(part) or re.escape(part) for part in parts))
