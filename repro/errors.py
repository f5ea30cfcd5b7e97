"""The errors and warnings of repro: each message has the input, what was expected, and what to do next."""

from __future__ import annotations

from collections.abc import Iterable

from repro.similar import most_similar


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
    similar = most_similar(unknown, known)
    return f"; did you mean '{similar}'?" if similar is not None else "."
