"""Changes each rule of fusion, sufficiency and routing in three ways, on a copy, and expects a test to notice.

`python scripts/mutate.py` prints one line per mutation and ends with 1 if any of them survives.
"""
# ruff: noqa: E501 - a mutation is easier to judge with both texts on one line

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# Imported here so that the forked test runs need not do it each time.
import langgraph.graph  # noqa: F401
import numpy as np  # noqa: F401
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "agenticiqa"
FUSION, SUFFICIENCY, FLOW = "score_fusion.py", "nodes/sufficiency.py", "graph/flow.py"
TESTS = {
    FUSION: ("tests/test_score_fusion.py",),
    SUFFICIENCY: ("tests/nodes/test_sufficiency.py", "tests/nodes/test_replanning.py"),
    FLOW: ("tests/graph/test_graph.py", "-k", "decide or limit or error or replan or ends or warn"),
}


@dataclass(frozen=True)
class Rule:
    """One rule and its three mutations: (kind, the text as it stands, the text put in its place)."""

    file: str
    name: str
    mutations: tuple[tuple[str, str, str], ...]


RULES = (
    Rule(FUSION, "weights are a Gaussian around the tools' mean", (
        ("operator", "{level: -self.eta * (mean - level) ** 2 for", "{level: self.eta * (mean - level) ** 2 for"),
        ("constant", "{level: -self.eta * (mean - level) ** 2 for", "{level: -self.eta * (mean - level) ** 4 for"),
        ("branch", "        if not tool_scores:\n            logger.warning", "        if tool_scores:\n            logger.warning"),
    )),
    Rule(FUSION, "the fused score is normalised", (
        ("operator", "value - self.eta * (mean - level) ** 2 for level, value", "value + self.eta * (mean - level) ** 2 for level, value"),
        ("constant", "value - self.eta * (mean - level) ** 2 for level, value", "value - 2 * self.eta * (mean - level) ** 2 for level, value"),
        ("branch", "        if not normalize:", "        if normalize:"),
    )),
    Rule(FUSION, "the printed sum on demand", (
        ("operator", "sum(weights[level] * beliefs[level] * level", "sum(weights[level] + beliefs[level] * level"),
        ("constant", "sum(weights[level] * beliefs[level] * level", "sum(weights[level] * beliefs[level] * 1"),
        ("branch", "*, normalize: bool = True", "*, normalize: bool = False"),
    )),
    Rule(FUSION, "without tools the model's expectation stands", (
        ("operator", "sum(joint[level] * level for level in joint)", "sum(joint[level] + level for level in joint)"),
        ("constant", "self.quality_levels[0]), self.quality_levels[-1])", "self.quality_levels[1]), self.quality_levels[-1])"),
        ("branch", "        if tool_scores:\n            mean = _mean", "        if not tool_scores:\n            mean = _mean"),
    )),
    Rule(FUSION, "a bare choice is worth 0.8", (
        ("operator", "(1 - CLASSIFIED_PROBABILITY) /", "(1 + CLASSIFIED_PROBABILITY) /"),
        ("constant", "CLASSIFIED_PROBABILITY = 0.8", "CLASSIFIED_PROBABILITY = 0.7"),
        ("branch", "CLASSIFIED_PROBABILITY if level == chosen else rest", "CLASSIFIED_PROBABILITY if level != chosen else rest"),
    )),
    Rule(FUSION, "values summing to 1 are probabilities, others log-values", (
        ("operator", "abs(sum(values) - 1) <= _SUM_TOLERANCE", "abs(sum(values) - 1) >= _SUM_TOLERANCE"),
        ("constant", "_SUM_TOLERANCE = 1e-3", "_SUM_TOLERANCE = 1e-1"),
        ("branch", "if mode is None and _are_probabilities", "if mode is not None and _are_probabilities"),
    )),
    Rule(FUSION, "levels by rounding, halves upward", (
        ("operator", "sum(score >= bound for bound in bounds)", "sum(score > bound for bound in bounds)"),
        ("constant", "(low + high) / 2 for low, high", "(low + high) / 3 for low, high"),
        ("branch", "bounds = thresholds or [", "bounds = not thresholds or ["),
    )),
    Rule(FUSION, "A is the highest level", (
        ("operator", "_LETTERS[len(levels) - 1 - reached]", "_LETTERS[len(levels) - 1 + reached - len(levels) + 1]"),
        ("constant", "self.quality_levels[-1 - letters.index", "self.quality_levels[-2 - letters.index"),
        ("branch", "if isinstance(key, str) and len(key.strip()) == 1", "if isinstance(key, str) and len(key.strip()) != 1"),
    )),
    Rule(FUSION, "no level named gives uniform beliefs", (
        ("operator", "1 / len(self.quality_levels))", "1 * len(self.quality_levels))"),
        ("constant", "1 / len(self.quality_levels))", "2 / len(self.quality_levels))"),
        ("branch", "        if chosen is None:", "        if chosen is not None:"),
    )),
    Rule(FUSION, "beliefs are finite, not negative and not all 0", (
        ("operator", "math.isfinite(p) and p >= 0 for p", "math.isfinite(p) or p >= 0 for p"),
        ("constant", "sum(beliefs.values()) <= 0", "sum(beliefs.values()) <= -1"),
        ("branch", "if not all(math.isfinite(p)", "if all(math.isfinite(p)"),
    )),
    Rule(FUSION, "eta is a finite number of at least 0", (
        ("operator", "not math.isfinite(eta) or eta < 0", "not math.isfinite(eta) or eta <= 0"),
        ("constant", "not math.isfinite(eta) or eta < 0", "not math.isfinite(eta) or eta < -1"),
        ("branch", "if not math.isfinite(eta) or", "if math.isfinite(eta) or"),
    )),
    Rule(SUFFICIENCY, "every object of the scope is analysed", (
        ("operator", "objects - set(evidence.distortion_analysis or {})", "objects & set(evidence.distortion_analysis or {})"),
        ("constant", "{GLOBAL} if query_scope == GLOBAL", "{OVERALL} if query_scope == GLOBAL"),
        ("branch", "        if missing:", "        if not missing:"),
    )),
    Rule(SUFFICIENCY, "an analysis that failed is a gap, one that was not asked for is none", (
        ("operator", "if evidence.distortion_analysis or failed:", "if evidence.distortion_analysis and failed:"),
        ("constant", '"distortion_analysis" in evidence.errors', '"analysis" in evidence.errors'),
        ("branch", "evidence.distortion_analysis is None and", "evidence.distortion_analysis is not None and"),
    )),
    Rule(SUFFICIENCY, "a plan without tools is not blamed for missing scores", (
        ("operator", "plan is None or plan.plan.tool_execution", "plan is None and plan.plan.tool_execution"),
        ("constant", "plan is None or plan.plan.tool_execution", "plan is None or True"),
        ("branch", "if plan is None or plan.plan", "if plan is not None and not plan.plan"),
    )),
    Rule(SUFFICIENCY, "no scores at all is a gap, and so is an object without", (
        ("operator", "sorted(objects - set(evidence.quality_scores))", "sorted(objects & set(evidence.quality_scores))"),
        ("constant", "        yield NO_SCORES\n", "        yield ''\n"),
        ("branch", "    if not evidence.quality_scores:", "    if evidence.quality_scores:"),
    )),
    Rule(SUFFICIENCY, "a key distortion without a score is a gap", (
        ("operator", "not {entry.type, OVERALL} & set(measured)", "not {entry.type, OVERALL} | set(measured)"),
        ("constant", 'KEY_SEVERITIES = ("moderate", *SEVERE)', 'KEY_SEVERITIES = ("slight", *SEVERE)'),
        ("branch", "if measured and entry.severity in KEY_SEVERITIES and not", "if measured and entry.severity not in KEY_SEVERITIES and not"),
    )),
    Rule(SUFFICIENCY, "severe and a high score contradict each other", (
        ("operator", "entry.severity in SEVERE and score > HIGH_SCORE", "entry.severity in SEVERE and score >= HIGH_SCORE"),
        ("constant", "HIGH_SCORE = 4.0", "HIGH_SCORE = 4.5"),
        ("branch", "if entry.severity in SEVERE and score", "if entry.severity not in SEVERE and score"),
    )),
    Rule(SUFFICIENCY, "no distortion and a low score contradict each other", (
        ("operator", "if not found and score < LOW_SCORE", "if not found and score <= LOW_SCORE"),
        ("constant", "LOW_SCORE = 2.0", "LOW_SCORE = 1.5"),
        ("branch", "if not found and score < LOW_SCORE", "if found and score < LOW_SCORE"),
    )),
    Rule(SUFFICIENCY, "what the model is uncertain of is a gap, the last one", (
        ("operator", "return bool(reason), reason", "return not bool(reason), reason"),
        ("constant", 'yield f"Uncertain evidence: {doubt}"', 'yield f"Unsure: {doubt}"'),
        ("branch", "for doubt in evidence.uncertainties:", "for doubt in evidence.uncertainties[1:]:"),
    )),
    Rule(SUFFICIENCY, "an analysis of severity none counts as nothing found", (
        ("operator", 'any(entry.severity != "none"', 'any(entry.severity == "none"'),
        ("constant", 'any(entry.severity != "none"', 'any(entry.severity != "slight"'),
        ("branch", "for entry in entries) if entries else", "for entry in entries) if not entries else"),
    )),
    Rule(FLOW, "no result or an error ends the run", (
        ("operator", 'if not result or state.get("error"):', 'if not result and state.get("error"):'),
        ("constant", 'if not result or state.get("error"):', 'if not result or state.get("failure"):'),
        ("branch", 'if not result or state.get("error"):', 'if result or state.get("error"):'),
    )),
    Rule(FLOW, "a new plan while the count is below the limit", (
        ("operator", "iteration < limit else", "iteration <= limit else"),
        ("constant", 'state.get("iteration_count", 0), replan', 'state.get("iteration_count", 9), replan'),
        ("branch", "if result.need_replan and iteration < limit", "if not result.need_replan and iteration < limit"),
    )),
    Rule(FLOW, "ending at the limit is said in three warnings", (
        ("operator", 'logger.warning("Max replanning iterations (%d) reached", limit)', 'logger.warning("Max replanning iterations (%d) reached", -limit)'),
        ("constant", "despite need_replan=true", "despite need_replan=false"),
        ("branch", "    elif result.need_replan:", "    elif not result.need_replan:"),
    )),
)  # fmt: skip


def main() -> int:
    survivors = 0
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "agenticiqa"
        shutil.copytree(PACKAGE, copy, copy_function=os.symlink, ignore=shutil.ignore_patterns("__pycache__"))
        for file, tests in TESTS.items():
            if not passes(copy.parent, tests):
                sys.stdout.write(f"{file}: its tests fail without any mutation\n")
                return 1
        for rule in RULES:
            for kind, old, new in rule.mutations:
                caught = is_caught(copy, rule.file, old, new)
                survivors += not caught
                sys.stdout.write(f"{'caught' if caught else 'SURVIVED':<9} {rule.file}: {rule.name} ({kind})\n")
                sys.stdout.flush()
    total = sum(len(rule.mutations) for rule in RULES)
    sys.stdout.write(f"{total} mutations of {len(RULES)} rules, {total - survivors} caught, {survivors} survived\n")
    return 1 if survivors else 0


def is_caught(copy: Path, file: str, old: str, new: str) -> bool:
    """Whether the file's tests fail once the text is replaced in the copy."""
    original, target = PACKAGE / file, copy / file
    text = original.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise SystemExit(f"{file}: {old!r} stands there {text.count(old)} times, not once; correct the mutation")
    target.unlink()
    target.write_text(text.replace(old, new), encoding="utf-8")
    try:
        forget_bytecode(target)
        return not passes(copy.parent, TESTS[file])
    finally:
        target.unlink()
        target.symlink_to(original)
        forget_bytecode(target)


def forget_bytecode(source: Path) -> None:
    """Removes compiled versions: two mutations of the same length within a second look alike to the interpreter."""
    for compiled in stale(source):
        compiled.unlink()


def stale(source: Path) -> Iterator[Path]:
    yield from (source.parent / "__pycache__").glob(f"{source.stem}.*.pyc")


def passes(path: Path, tests: tuple[str, ...]) -> bool:
    """Whether the tests pass with the package found at this path."""
    process = os.fork()
    if process == 0:
        os._exit(_test(path, tests))
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


def _test(path: Path, tests: tuple[str, ...]) -> int:
    """The exit code of the tests in this process, which has not seen the package yet; nothing is printed."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.path.insert(0, str(path))
    try:
        # What is imported beforehand cannot have its assertions rewritten; none of it has any that matter here.
        options = ["-x", "-q", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
        return int(pytest.main([*options, *tests]))
    except BaseException:
        return 1


if __name__ == "__main__":
    sys.exit(main())
