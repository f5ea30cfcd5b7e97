"""Claims to verdicts: published numbers, run again and judged."""

from repro.replicate.claim import Claim
from repro.replicate.judge import Budget
from repro.replicate.replicate import claims_below, replicate
from repro.replicate.runs import Options
from repro.replicate.verdict import VERDICTS, Judged, Replication

__all__ = ["VERDICTS", "Budget", "Claim", "Judged", "Options", "Replication", "claims_below", "replicate"]
