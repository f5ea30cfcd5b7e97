"""The page of a review."""

from repro.reports.review.review_page import review_page, write_review

__all__ = ["review_page", "write_review"]
