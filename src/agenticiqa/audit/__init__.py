"""Data sets checked for faults: blurry, dark, over-exposed, noisy, broken, odd and duplicate pictures."""

from agenticiqa.audit.auditing import Audit, AuditOptions, audit, judge
from agenticiqa.audit.duplicates import Group
from agenticiqa.audit.issues import ISSUES, Issue

__all__ = ["ISSUES", "Audit", "AuditOptions", "Group", "Issue", "audit", "judge"]
