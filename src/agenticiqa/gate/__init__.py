"""Rules on results: `subject: blur >= moderate`, `face: sharp`, `score < 3.5`, `SSIM < 0.95`.

`parse_rule` reads a rule, `judge` holds it against one assessment and says why. docs/objects.md has the grammar.
"""

from agenticiqa.gate.gatekeeping import Failure, Gate, GateReport, gate_sections
from agenticiqa.gate.rule_evaluation import Outcome, Verdict, judge
from agenticiqa.gate.rules import Comparison, Rule, comparisons, objects_of, parse_rule

__all__ = [
    "Comparison",
    "Failure",
    "Gate",
    "GateReport",
    "Outcome",
    "Rule",
    "Verdict",
    "comparisons",
    "gate_sections",
    "judge",
    "objects_of",
    "parse_rule",
]
