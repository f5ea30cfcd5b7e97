"""Replication of published numbers: claims in, verdicts out."""

from repro.replicate.claim_runs import Options
from repro.replicate.claims.claim import Claim
from repro.replicate.replicate import claims_below, replicate
from repro.replicate.verdicts.cells import Budget
from repro.replicate.verdicts.judgement import VERDICTS, Judgement, Replication

__all__ = ["VERDICTS", "Budget", "Claim", "Judgement", "Options", "Replication", "claims_below", "replicate"]
