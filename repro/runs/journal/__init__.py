"""The journal: write it, read it, check it."""

from repro.runs.journal import audit_events, events
from repro.runs.journal.events import journal_schema
from repro.runs.journal.journal import (
    ENDS,
    Contents,
    Journal,
    canonical_json,
    has_journal,
    journal_bytes,
    packed_journal,
    read_journal,
)

__all__ = [
    "ENDS",
    "Contents",
    "Journal",
    "audit_events",
    "canonical_json",
    "events",
    "has_journal",
    "journal_bytes",
    "journal_schema",
    "packed_journal",
    "read_journal",
]
