"""The gate: failures have names, thresholds follow patterns, and what cannot be judged does not pass."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from agenticiqa.cli.gating import gate_code, github_annotations, in_words, junit_xml
from agenticiqa.errors import RuleError, SettingsError, ToolUnavailableError
from agenticiqa.gate.gatekeeping import Gate, gate_sections, read_sections
from tests.support.results import finding, record


def result(name: str, score: float | None = 3.0, **changes: Any) -> dict[str, Any]:
    return {
        "sample_id": name,
        "image_path": f"/shop/{name}",
        "assessment": record(score=score, **changes),
        "error": None,
    }


def gate_of(*rules: str, fail_under: float | None = None, **more: Any) -> Gate:
    return Gate(gate_sections(fail_under, rules, None), **more)


def test_a_failure_names_picture_score_rule_and_reason() -> None:
    gate = gate_of("blur >= moderate", fail_under=2.5)
    blurred = [finding("Blurs", "severe")]

    assert gate.check(result("good.png", 4.4, distortions=[finding("Blurs", "slight")])) == []
    gate.check(result("hero/bad.png", 1.43, distortions=blurred))

    told = [(each.sample_id, each.rule, each.reason) for each in gate.report.failed]
    assert told == [
        ("hero/bad.png", "score < 2.5", "score is 1.43"),
        ("hero/bad.png", "blur >= moderate", "blur is severe"),
    ]
    assert gate.report.as_dict()["passed"] == 1
    assert "hero/bad.png: score 1.43, fails by `score < 2.5` (score is 1.43)" in in_words(gate.report)


def test_a_required_rule_that_does_not_hold_is_not_called_met() -> None:
    gate = Gate(gate_sections(None, ["score < 2"], None, ["score >= 3"]))

    gate.check(result("bad.png", 1.43))

    words = in_words(gate.report)
    assert "bad.png: score 1.43, fails by `score < 2` (score is 1.43)" in words
    assert "bad.png: score 1.43, does not meet `require score >= 3` (score is 1.43)" in words
    assert "bad.png: score 1.43, meets" not in words


def test_what_cannot_be_judged_does_not_pass() -> None:
    gate = gate_of("SSIM < 0.95", fail_under=2.0)

    gate.check(result("a.png", None))
    gate.check({"sample_id": "b.png", "assessment": None, "error": "b.png: no such file"})

    assert {(each.sample_id, each.outcome) for each in gate.report.failures} == {
        ("a.png", "unknown"),
        ("b.png", "unknown"),
    }
    assert "b.png: no such file" in gate.report.failures[-1].reason


def test_a_measurement_the_agent_did_not_make_is_made_for_the_rule() -> None:
    def measure(found: Mapping[str, Any], tool: str) -> float:
        if found["sample_id"] == "alone.png":
            raise ToolUnavailableError("SSIM compares with a reference image and none was given")
        return {"ssim": 0.9, "overexposed": 0.08}[tool]

    gate = gate_of("SSIM < 0.95", "clipped_highlights > 5 %", measure=measure)
    gate.check(result("a.png"))
    gate.check({**result("known.png"), "measurements": {"SSIM": 0.99, "OVEREXPOSED": 0.0}})
    gate.check(result("alone.png"))

    assert [(each.sample_id, each.outcome) for each in gate.report.failures] == [
        ("a.png", "failed"),
        ("a.png", "failed"),
        ("alone.png", "unknown"),
        ("alone.png", "unknown"),
    ]


def test_a_rule_that_cannot_be_judged_says_what_kept_its_tool_from_measuring() -> None:
    def measure(found: Mapping[str, Any], tool: str) -> float:
        raise ToolUnavailableError("SSIM compares with a reference image and none was given")

    gate = gate_of("SSIM < 0.95", measure=measure)
    gate.check(result("alone.png"))

    assert "compares with a reference image" in gate.report.unknown[0].reason


def test_thresholds_in_a_file_follow_patterns_and_the_last_that_fits_counts(tmp_path: Path) -> None:
    file = tmp_path / "agenticiqa.toml"
    file.write_text(
        '[gate]\nfail_under = 3.0\n[gate."thumbs/**"]\nfail_under = 2.0\n[gate."*.hero.png"]\nfail_if = "score < 4"\n'
    )
    gate = Gate(gate_sections(None, [], file))

    for name in ("a.png", "thumbs/deep/b.png", "thumbs/c.hero.png"):
        gate.check(result(name, 2.5))

    assert [(each.sample_id, each.rule) for each in gate.report.failures] == [
        ("a.png", "score < 3"),
        ("thumbs/c.hero.png", "score < 4"),
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[gate]\nfail_udner = 3", "unknown key 'fail_udner'"),
        ('[gate]\nfail_if = ["score <"]', "expected a number"),
        ('[gate."a/*"]\nfail_under = "3"', "fail_under must be a number"),
        ("[gate", "cannot be read"),
        ("", "holds no rule"),
        ('[gate."a/*"]', "holds no rule"),
    ],
)
def test_a_wrong_file_of_thresholds_is_refused_with_its_place(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "agenticiqa.toml").write_text(text)

    with pytest.raises(SettingsError, match=problem):
        read_sections(tmp_path / "agenticiqa.toml")


def test_junit_has_a_case_per_picture_and_a_failure_per_rule() -> None:
    gate = gate_of(fail_under=2.5)
    names = ["a\x07<&.png", "b.png", "c.png"]
    for name, score in zip(names, (1.0, 4.0, None), strict=True):
        gate.check(result(name, score))

    suite = ElementTree.fromstring(junit_xml(gate.report, names).encode())

    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    failing = suite.findall("testcase")[0]
    assert failing.get("name") == "a\ufffd<&.png"
    assert failing.find("failure") is not None
    assert suite.findall("testcase")[1].find("failure") is None


def test_annotations_name_the_file_and_cannot_be_broken_by_it() -> None:
    gate = gate_of(fail_under=2.5)
    gate.check(result("a,b:\n.png", 1.0))

    line = github_annotations(gate.report)

    assert line.startswith("::error file=/shop/a%2Cb%3A%0A.png,title=score < 2.5::")
    assert "\n" not in line


@pytest.mark.parametrize(("name", "hint"), [("unicorn", "docs/objects.md"), ("fase", "face"), ("perso", "person")])
def test_a_rule_on_a_name_that_nothing_is_located_by_is_refused(name: str, hint: str) -> None:
    gate = Gate(gate_sections(None, [f"{name}: blurred"], None))

    with pytest.raises(RuleError, match=f"nothing called {name!r} can be located.*{hint}"):
        gate.require_known_objects()


@pytest.mark.parametrize("name", ["cat", "faces", "background", "top left", "left upper corner", "black dog", "Katze"])
def test_names_of_things_and_places_are_taken(name: str) -> None:
    Gate(gate_sections(None, [f"{name}: blurred"], None)).require_known_objects()


def test_a_thing_that_is_not_there_is_said_not_to_have_been_judged_and_fails_what_is_required() -> None:
    without = {"sample_id": "a.jpg", "image_path": "a.jpg", "assessment": {"score": 4.0, "regions": {"cat": None}}}
    gate = Gate(gate_sections(None, ["cat: blurred"], None))
    strict = Gate(gate_sections(None, [], None, ["cat: sharp"]))

    assert gate.check(without) == []
    assert in_words(gate.report).splitlines()[0] == "`cat: blurred` (no cat was found): not applied to 1 picture"
    assert gate.report.as_dict()["not_applied"] == {"`cat: blurred` (no cat was found)": 1}
    assert [failure.outcome for failure in strict.check(without)] == ["failed"]


def test_patterns_are_seen_from_the_folder_of_their_file(tmp_path: Path) -> None:
    file = tmp_path / "agenticiqa.toml"
    file.write_text('[gate]\nfail_under = 3\n[gate."site/thumbs/**"]\nfail_under = 1\n')
    picture = tmp_path / "site" / "thumbs" / "a.png"
    assessment = {"score": 2.0}

    gate = Gate(gate_sections(None, [], file))
    of_assess = gate.check({"sample_id": str(picture), "image_path": str(picture), "assessment": assessment})
    of_batch = gate.check({"sample_id": "thumbs/a.png", "image_path": str(picture), "assessment": assessment})
    elsewhere = gate.check({"sample_id": "a.png", "image_path": str(tmp_path / "a.png"), "assessment": assessment})

    assert (of_assess, of_batch) == ([], [])
    assert [failure.rule for failure in elsewhere] == ["score < 3"]


def patterned(folder: Path, *patterns: str) -> Gate:
    file = folder / "t.toml"
    file.write_text("".join(f'[gate."{pattern}"]\nfail_under = 4.9\n' for pattern in patterns))
    return Gate(gate_sections(None, [], file))


def test_a_section_that_names_no_picture_is_told_with_the_pattern_that_would(tmp_path: Path) -> None:
    gate = patterned(tmp_path, "hero/*.jpg", "site/thumbs/*")
    for name in ("thumbs/a.jpg", "hero/b.jpg"):
        gate.check({**result(name), "image_path": str(tmp_path / "site" / name)})

    (said,) = gate.report.as_dict()["unused_sections"]
    suite = ElementTree.fromstring(junit_xml(gate.report, ["thumbs/a.jpg", "hero/b.jpg"]))

    assert said.startswith(f"section `hero/*.jpg` of {tmp_path / 't.toml'} names no picture; patterns are seen from")
    assert said.endswith("for example `site/hero/*.jpg`")
    assert said in in_words(gate.report)
    assert "1 checked: 1 failed, 0 could not be judged; no rule is for 1 picture" in in_words(gate.report)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "3",
        "1",
        "0",
        "2",
    )
    assert suite.findall("testcase")[2].find("skipped") is not None


def test_a_gate_that_is_for_no_picture_does_not_pass(tmp_path: Path) -> None:
    gate = patterned(tmp_path, "hero/*.jpg")
    gate.check({**result("a.jpg"), "image_path": str(tmp_path / "a.jpg")})

    suite = ElementTree.fromstring(junit_xml(gate.report, ["a.jpg"]))

    assert (gate.report.checked, gate.report.as_dict()["passed"], gate.report.not_checked) == (0, 0, ["a.jpg"])
    assert gate_code(gate) == 2
    assert suite.get("errors") == "1"


def test_a_section_whose_pictures_later_ones_name_is_told_so(tmp_path: Path) -> None:
    gate = patterned(tmp_path, "site/hero/*", "site/**")
    gate.check({**result("a.jpg"), "image_path": str(tmp_path / "site/hero/a.jpg")})

    (said,) = gate.report.as_dict()["unused_sections"]

    assert "section `site/hero/*`" in said
    assert "later sections name each of its pictures" in said


def test_a_pattern_names_a_picture_by_its_path_as_given_and_by_where_links_lead(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.jpg").touch()
    (tmp_path / "link").symlink_to(tmp_path / "site")

    for pattern in ("link/*.jpg", "site/*.jpg"):
        gate = patterned(tmp_path, pattern)
        assert gate.check({**result("a.jpg"), "image_path": str(tmp_path / "link" / "a.jpg")})
        assert gate.report.unused_sections == {}


def test_a_file_of_thresholds_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"t9\.toml: no such file; check the path"):
        read_sections(tmp_path / "t9.toml")
    with pytest.raises(SettingsError, match=r"cannot be read \(Is a directory\)"):
        read_sections(tmp_path)
