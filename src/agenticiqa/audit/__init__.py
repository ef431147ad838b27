"""Data sets checked for faults: blurry, dark, over-exposed, noisy, broken, odd and duplicate pictures."""

from agenticiqa.audit.auditing import Audit as Audit
from agenticiqa.audit.auditing import AuditOptions as AuditOptions
from agenticiqa.audit.auditing import audit as audit
from agenticiqa.audit.auditing import judge as judge
from agenticiqa.audit.issues import ISSUES as ISSUES
