"""Pages about replications: the page of a claim, and the page of all verdicts."""

from repro.reports.replicate.claim_page import write_page
from repro.reports.replicate.claims_index import write_index

__all__ = ["write_index", "write_page"]
