"""Reviews of artefacts: split files, negatives, runs and printed numbers of others, recounted."""

from repro.reviews.artefact_review import Review, review
from repro.reviews.findings import SEVERITIES, Example, Finding
from repro.reviews.stated import Paper, Stated, read_paper

__all__ = ["SEVERITIES", "Example", "Finding", "Paper", "Review", "Stated", "read_paper", "review"]
