"""The IQA tools: what there is, how to run it, and how to read what it says."""

from agenticiqa.tools.calibration import Calibration as Calibration
from agenticiqa.tools.calibration import Curve as Curve
from agenticiqa.tools.calibration import same_scale as same_scale
from agenticiqa.tools.catalogue import default_registry as default_registry
from agenticiqa.tools.registry import ToolRegistry as ToolRegistry
from agenticiqa.tools.tool import Measurement as Measurement
from agenticiqa.tools.tool import Pixels as Pixels
from agenticiqa.tools.tool import Tool as Tool
from agenticiqa.tools.tool import ToolCard as ToolCard
