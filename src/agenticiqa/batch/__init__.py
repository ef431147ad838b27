"""Many samples: resumable, within a budget, on one machine or many."""

from agenticiqa.batch.cost import Limits
from agenticiqa.batch.journal import Clock, Disk, Journal, read_records
from agenticiqa.batch.manifest import Manifest, ManifestCheck, check_manifest, open_manifest
from agenticiqa.batch.records import Assess, AssessWith, Prepare
from agenticiqa.batch.runner import BatchOptions, BatchProgress, BatchSummary, run_batch
from agenticiqa.batch.samples import BatchRecord, Sample

__all__ = [
    "Assess",
    "AssessWith",
    "BatchOptions",
    "BatchProgress",
    "BatchRecord",
    "BatchSummary",
    "Clock",
    "Disk",
    "Journal",
    "Limits",
    "Manifest",
    "ManifestCheck",
    "Prepare",
    "Sample",
    "check_manifest",
    "open_manifest",
    "read_records",
    "run_batch",
]
