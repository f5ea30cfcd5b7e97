"""What people read of replications: the page of a claim, and the page of all verdicts."""

from repro.report.replicate.index import write_index
from repro.report.replicate.page import write_page

__all__ = ["write_index", "write_page"]
