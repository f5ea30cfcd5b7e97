"""The errors and warnings people see: each says what was given, what was expected and what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Longer names are no typing errors, and to compare them takes long.
_LONGEST = 200


class ReproError(Exception):
    """Anything a user can mend; the command line prints its text without a traceback.

    ``decision`` is the decision of the protocol that stops the evaluation, where one does.
    """

    def __init__(self, *texts: object, decision: str = "") -> None:
        super().__init__(*texts)
        self.decision = decision


class DataError(ReproError):
    """A data set or file that cannot be used as it is."""


class ProtocolError(ReproError):
    """A protocol, or a study's use of one, that does not say one clear thing."""


class PluginError(ReproError):
    """A plug-in that is missing, broken, or broke its contract."""


class StudyError(ReproError):
    """A study that cannot be planned, run or resumed."""


class JournalError(ReproError):
    """A journal or run folder that does not hold together."""


class ReproWarning(UserWarning):
    """A result that may not mean what it seems to mean; Python functions warn with it, commands print its text."""


def nearest(given: str, known: Iterable[str]) -> str:
    """The end of a sentence about the unknown ``given``: a `did you mean` clause, or a full stop."""
    given = given[:_LONGEST]
    names = [name for name in known if len(name) <= _LONGEST]
    close = difflib.get_close_matches(given, names, n=1, cutoff=0.5)
    if not close:
        close = [name for name in names if given and (name.startswith(given) or given in name)][:1]
    return f"; did you mean '{close[0]}'?" if close else "."
