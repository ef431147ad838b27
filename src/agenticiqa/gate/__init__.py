"""Rules on results: `subject: blur >= moderate`, `face: sharp`, `score < 3.5`, `SSIM < 0.95`.

`parse_rule` reads a rule, `judge` holds it against one assessment and says why. docs/objects.md has the grammar.
"""

from agenticiqa.gate.gatekeeping import Gate as Gate
from agenticiqa.gate.rule_evaluation import judge as judge
from agenticiqa.gate.rules import Comparison as Comparison
from agenticiqa.gate.rules import comparisons as comparisons
from agenticiqa.gate.rules import objects_of as objects_of
from agenticiqa.gate.rules import parse_rule as parse_rule
