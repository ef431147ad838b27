"""Many samples: resumable, within a budget, on one machine or many."""

from agenticiqa.batch.cost import Limits as Limits
from agenticiqa.batch.journal import Disk as Disk
from agenticiqa.batch.journal import Journal as Journal
from agenticiqa.batch.journal import read_records as read_records
from agenticiqa.batch.manifest import Manifest as Manifest
from agenticiqa.batch.manifest import check_manifest as check_manifest
from agenticiqa.batch.manifest import open_manifest as open_manifest
from agenticiqa.batch.runner import BatchOptions as BatchOptions
from agenticiqa.batch.runner import BatchProgress as BatchProgress
from agenticiqa.batch.runner import BatchSummary as BatchSummary
from agenticiqa.batch.runner import run_batch as run_batch
from agenticiqa.batch.samples import Assess as Assess
from agenticiqa.batch.samples import BatchRecord as BatchRecord
from agenticiqa.batch.samples import Sample as Sample
