"""What came of a claim: a verdict for each printed number, figure and pattern."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from repro.replicate.printed import Printed
from repro.replicate.tolerance import mean

Found = Literal["exact", "within", "underspecified", "differs", "erratum", "holds", "does not hold", "not run"]
VERDICTS: Mapping[Found, str] = {
    "exact": "rounds to the printed digits",
    "within": "within the tolerance",
    "underspecified": "given by a setting of what the source leaves open, or decided by the order of ties",
    "differs": "another number",
    "erratum": "no computation can give the printed number",
    "holds": "the pattern holds with every seed",
    "does not hold": "the pattern does not hold with every seed",
    "not run": "could not be run here",
}


@dataclass(frozen=True)
class Judged:
    """One printed number (or figure, or pattern) with its verdict.

    what       "cell", "fact" or "pattern"
    algorithm  whose number it is; of a pattern, what it says
    values     what was measured, seed by seed, the claim's own first
    reach      how far from the mean of the values the printed number may be, where seeds say so
    why        what is to be known: the arithmetic of an erratum, the setting, the nearest protocol, what to do
    giving     of the settings of what the source leaves open, how many give the printed number
    settings   how many were tried; 0 where nothing is open
    met        of the printed numbers that the claim's own setting does not give, how many the best setting gives
    chance     the probability that one of the settings gives as many by chance
    ties       the lowest and the highest number that an order of tied items gives, where the printed one lies between
    newer      what versions of frameworks that are installed here give, where those of the claim are others
    """

    what: Literal["cell", "fact", "pattern"]
    algorithm: str
    metric: str
    verdict: Found
    printed: Printed | None = None
    values: tuple[float, ...] = ()
    under: str = ""
    changes: tuple[tuple[str, Any], ...] = ()
    user: str = ""
    reach: float = 0.0
    why: str = ""
    giving: int = 0
    settings: int = 0
    met: int = 0
    chance: float | None = None
    ties: tuple[float, float] | None = None
    newer: float | None = None

    @property
    def value(self) -> float:
        """What was measured: with the claim's own seed."""
        return self.values[0] if self.values else math.nan

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return mean(self.values)

    @property
    def spread(self) -> tuple[float, float] | None:
        """The least and the most over the seeds, where there are several."""
        known = [value for value in self.values if math.isfinite(value)]
        return (min(known), max(known)) if len(known) > 1 else None

    def to_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        low, high = self.spread or (None, None)
        return {
            "what": self.what,
            "algorithm": self.algorithm,
            "metric": self.metric,
            "under": self.under,
            "set": dict(self.changes),
            "user": self.user,
            "printed": self.printed.text if self.printed else "",
            "decimals": self.printed.decimals if self.printed else None,
            "measured": _finite(self.value),
            "mean": _finite(self.mean),
            "least": low,
            "most": high,
            "seeds": len(self.values),
            "reach": self.reach,
            "verdict": self.verdict,
            "why": self.why,
            "settings": self.settings,
            "settings_giving": self.giving,
            "setting_meets": self.met,
            "setting_by_chance": self.chance,
            "ties_lowest": None if self.ties is None else self.ties[0],
            "ties_highest": None if self.ties is None else self.ties[1],
            "newer": self.newer,
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True, eq=False)
class Replication:
    """What came of one claim.

    notes     what is to be known of it as a whole
    versions  of the frameworks that it was run with
    journal   the line of its journal with which the run finished: number, event and hash
    """

    name: str
    title: str
    source: str
    judged: tuple[Judged, ...]
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    searches: tuple[Search, ...] = ()
    journal: str = ""

    def counts(self) -> dict[Found, int]:
        """How many there are of each verdict, of those that there are."""
        return counted(self.judged)

    @property
    def summary(self) -> str:
        """The counts in words: "18 exact, 2 within"."""
        return in_words(self.counts())

    def to_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        return {
            "claim": self.name,
            "title": self.title,
            "source": self.source,
            "summary": self.summary,
            "counts": self.counts(),
            "notes": list(self.notes),
            "versions": dict(self.versions),
            "journal": self.journal,
            "verdicts": [one.to_dict() for one in self.judged],
            "searches": [one.to_dict() for one in self.searches],
        }


@dataclass(frozen=True)
class Search:
    """The protocols that come nearest to the numbers of one metric that differ.

    nearest   what the nearest one decides otherwise, in words; nothing where the claim's own is the nearest
    values    what it gives, by algorithm, beside what is printed and what was measured
    """

    metric: str
    under: str
    rows: tuple[tuple[str, str, float, float], ...]
    nearest: tuple[str, ...]
    off: tuple[float, float]
    tried: int
    fitting: int

    def to_dict(self) -> dict[str, object]:
        """Everything as plain data."""
        return {
            "metric": self.metric,
            "under": self.under,
            "tried": self.tried,
            "fitting": self.fitting,
            "off_by": {"claim": self.off[0], "nearest": self.off[1]},
            "decided_otherwise": list(self.nearest),
            "numbers": [
                {"algorithm": label, "printed": printed, "measured": own, "nearest": near}
                for label, printed, own, near in self.rows
            ],
        }

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        if not self.nearest:
            return f"none of {self.tried:,} protocols that were tried comes nearer than the claim's own"
        fits = "gives all of them" if self.fitting else "is the nearest, and does not give them"
        return f"of {self.tried:,} protocols that were tried, this one {fits}: {'; '.join(self.nearest)}"


def counted(judged: Iterable[Judged]) -> dict[Found, int]:
    """How many there are of each verdict, in the order of VERDICTS."""
    found = [one.verdict for one in judged]
    return {verdict: found.count(verdict) for verdict in VERDICTS if verdict in found}


def in_words(counts: Mapping[Found, int]) -> str:
    """ "18 exact, 2 within"."""
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "nothing is claimed"
