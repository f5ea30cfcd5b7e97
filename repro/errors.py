"""The errors and warnings of repro: each message has the input, what was expected, and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Longer names are not misspelt names, and take long to compare.
_LONGEST = 200


class ReproError(Exception):
    """An error that a user can fix; the command line prints its text without a traceback.

    ``decision`` is the decision of the protocol that stops the evaluation, if there is one.
    """

    def __init__(self, *texts: object, decision: str = "") -> None:
        super().__init__(*texts)
        self.decision = decision


class DataError(ReproError):
    """A data set or file that cannot be used as it is."""


class ProtocolError(ReproError):
    """A protocol, or a study's use of one, that is invalid or ambiguous."""


class PluginError(ReproError):
    """A plug-in that is missing, broken, or violates its contract."""


class StudyError(ReproError):
    """A study that cannot be planned, run or resumed."""


class JournalError(ReproError):
    """A journal or run folder that is damaged or inconsistent."""


class ReproWarning(UserWarning):
    """A result that may be misleading; Python functions warn with it, commands print its text."""


def nearest(unknown: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: a `did you mean` clause, or a full stop."""
    unknown = unknown[:_LONGEST]
    names = [name for name in known if len(name) <= _LONGEST]
    close = difflib.get_close_matches(unknown, names, n=1, cutoff=0.5)
    if not close:
        close = [name for name in names if unknown and unknown in name][:1]
    return f"; did you mean '{close[0]}'?" if close else "."
