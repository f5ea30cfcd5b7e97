"""Replication of published numbers: claims in, verdicts out."""

from repro.replications.claim_runs import Options
from repro.replications.claims.claim import Claim
from repro.replications.drafts.draft import draft_claim
from repro.replications.replication import claims_below, replicate
from repro.replications.verdicts.judgement import VERDICTS, Judgement, Replication
from repro.replications.verdicts.searched import Budget

__all__ = [
    "VERDICTS",
    "Budget",
    "Claim",
    "Judgement",
    "Options",
    "Replication",
    "claims_below",
    "draft_claim",
    "replicate",
]
