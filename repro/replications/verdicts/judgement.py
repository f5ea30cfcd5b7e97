"""The result of a replication: a verdict for each printed number, figure and pattern."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from repro.current import views
from repro.replications.claims.claim import Cell, Claim, Fact, Pattern
from repro.replications.claims.printed import Printed, Rounding, mean
from repro.replications.verdicts.spreads import Spread
from repro.text import finite

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

VerdictName = Literal[
    "exact",
    "within",
    "underspecified",
    "mistake",
    "leak",
    "differs",
    "erratum",
    "holds",
    "does not hold",
    "not run",
]
VERDICTS: Mapping[VerdictName, str] = {
    "exact": "rounds to the printed digits",
    "within": "within the tolerance",
    "underspecified": "given by a setting of what the source leaves open, or decided by the order of ties",
    "mistake": "given only by a mistake that explains many numbers at once, such as swapped rows or another metric",
    "leak": "given only if the test part was used to fit or to choose: with the number without it",
    "differs": "another number",
    "erratum": "no computation can give the printed number",
    "holds": "the pattern holds with every seed",
    "does not hold": "the pattern does not hold with every seed",
    "not run": "could not be run here",
}


@dataclass(frozen=True)
class Judgement:
    """A printed number (or figure, or pattern) with its verdict.

    what       "cell", "fact" or "pattern"
    algorithm  the label of the algorithm; for a pattern, its statement
    values     the measured values, one for each seed, the first seed first
    reach      the tolerance around the mean of the values, where it comes from seeds
    why        the reason: the arithmetic of an erratum, the setting, the nearest protocol, or what to do
    giving     how many settings of the open decisions give the printed number
    settings   how many settings were tried; 0 if nothing is open
    met        how many of the printed numbers that the claim's own setting does not give the best setting gives
    chance     the probability that one of the settings gives as many by chance
    cause      the error that gives the printed number, where the verdict is "leak" or "mistake"
    by_cause   the number that this error gives
    data       the name of the data set, in a claim about several
    spreads    spreads over seeds and folds, where the source prints one, each with whether it agrees
    ties       the lowest and the highest number over orders of tied items, if the printed one lies between them
    newer      the value with the installed versions of frameworks, where it differs from that with the claimed ones
    """

    what: Literal["cell", "fact", "pattern"]
    algorithm: str
    metric: str
    verdict: VerdictName
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
    cause: str = ""
    by_cause: float | None = None
    ties: tuple[float, float] | None = None
    newer: float | None = None
    data: str = ""
    spreads: tuple[Spread, ...] = ()

    @property
    def where(self) -> str:
        """The data set and the protocol, as far as they are named."""
        return ", ".join(filter(None, (self.data, self.under)))

    @property
    def value(self) -> float:
        """The measured value with the first seed."""
        return self.values[0] if self.values else math.nan

    @property
    def mean(self) -> float:
        """The mean over the seeds."""
        return mean(self.values)

    @property
    def spread(self) -> tuple[float, float] | None:
        """The lowest and the highest value over the seeds, if there are several."""
        finite = [value for value in self.values if math.isfinite(value)]
        return (min(finite), max(finite)) if len(finite) > 1 else None

    def adding(self, *reasons: str) -> Judgement:
        """The judgement with further reasons; empty ones are ignored."""
        return replace(self, why="; ".join(filter(None, (self.why, *reasons))))

    def tried(self, other: Judgement) -> Judgement:
        """The judgement, with the counts of settings and the spreads of ``other``."""
        return replace(self, giving=other.giving, settings=other.settings, spreads=other.spreads)

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        low, high = self.spread or (None, None)
        return {
            **{name: getattr(self, name) for name in ("what", "algorithm", "metric", "under")},
            "set": dict(self.changes),
            "user": self.user,
            "printed": self.printed.text if self.printed else "",
            "decimals": self.printed.decimals if self.printed else None,
            "measured": finite(self.value),
            "mean": finite(self.mean),
            "least": low,
            "most": high,
            "seeds": len(self.values),
            "data": self.data,
            "spreads": [asdict(spread) for spread in self.spreads],
            "reach": self.reach,
            "verdict": self.verdict,
            "why": self.why,
            "settings": self.settings,
            "settings_giving": self.giving,
            "setting_meets": self.met,
            "setting_by_chance": self.chance,
            "cause": self.cause,
            "by_cause": self.by_cause,
            "ties_lowest": None if self.ties is None else self.ties[0],
            "ties_highest": None if self.ties is None else self.ties[1],
            "newer": self.newer,
        }


def not_run(claimed: Cell | Fact | Pattern, why: str = "", data: str = "") -> Judgement:
    """The judgement of a statement that could not be run; ``data`` is the name of the data set of a fact."""
    if isinstance(claimed, Pattern):
        return Judgement("pattern", claimed.says, claimed.relation_in_words, "not run", why=why)
    if isinstance(claimed, Fact):
        return Judgement("fact", data, claimed.name, "not run", claimed.printed, under=claimed.under, why=why)
    key = claimed.key
    judgement = Judgement("cell", key.algorithm, key.metric, "not run", claimed.printed, why=why)
    return replace(judgement, under=key.under, changes=key.changes, user=key.user)


def by_digits(printed: Printed, value: float, rounding: Rounding) -> tuple[VerdictName, str]:
    """The verdict on a printed number by its digits alone, with the reason."""
    if printed.matches_rounded(value):
        return "exact", ""
    if rounding.gives(printed, value):
        return "within", f"{printed.shown(value, 2)}: {rounding.sentence}"
    return "differs", rounding.doubt(printed, value)


def judge_cell(cell: Cell, values: tuple[float, ...], rounding: Rounding) -> Judgement:
    """The verdict by the values that the claim's own setting gives, one for each seed."""
    printed, tolerance = cell.printed, cell.tolerance
    verdict, why = by_digits(printed, values[0], rounding)
    judgement = replace(not_run(cell, why), verdict=verdict, values=values, reach=tolerance.reach(values))
    if verdict != "differs":
        return judgement
    if printed.spread and len(values) > 1 and printed.matches_rounded(judgement.mean):
        return replace(judgement, verdict="exact", why=f"the mean over {len(values)} seeds")
    if tolerance.holds(printed, values):
        return replace(judgement, verdict="within", why=_interval(judgement, printed, tolerance.level))
    if printed.spread and abs(judgement.mean - printed.value) <= printed.spread.value + printed.slack:
        return replace(judgement, verdict="within", why=f"within the printed spread, ± {printed.spread.text}")
    return judgement.adding(_spread(judgement, printed, tolerance.kind))


def _interval(judgement: Judgement, printed: Printed, level: float) -> str:
    low, high = (printed.shown(judgement.mean + sign * judgement.reach) for sign in (-1, 1))
    seeds = f", the {level:.0%} prediction interval of {len(judgement.values)} seeds"
    return f"within {low} to {high}" + (seeds if len(judgement.values) > 1 else "")


def _spread(judgement: Judgement, printed: Printed, kind: str) -> str:
    """The range over seeds of a number that differs."""
    if judgement.spread is None:
        return "a single seed has no spread; add seeds" if kind == "seeds" else ""
    low, high = judgement.spread
    sentence = f"{printed.shown(low)} to {printed.shown(high)} over {len(judgement.values)} seeds"
    inside = low - printed.slack <= printed.value <= high + printed.slack
    return sentence + ('; a tolerance of kind "seeds" may contain it' if inside and kind == "rounding" else "")


@dataclass(frozen=True, eq=False)
class Replication:
    """The result of the replication of one claim.

    notes     remarks about the claim as a whole
    versions  the versions of the frameworks that ran
    causes    errors that explain numbers: leaks and mistakes
    journal   the last line of the run's journal: number, event and hash
    claim     the claim that was replicated; None where its file could not be read
    """

    name: str
    title: str
    source: str
    judgements: tuple[Judgement, ...]
    notes: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    searches: tuple[Search, ...] = ()
    causes: tuple[FoundCause, ...] = ()
    journal: str = ""
    claim: Claim | None = field(default=None, repr=False)

    def plot(self) -> alt.TopLevelMixin:
        """The printed and the measured number of each algorithm, by metric, with their verdicts, as an Altair chart."""
        return views().plot(self)

    def report(self, into: str | Path | None = None) -> Path:
        """Write the page, ``report.html`` next to the claim or the file ``into``, and return its path."""
        return views().report(self, None if into is None else Path(into))

    def to_frame(self) -> pd.DataFrame:
        """A row for each judgement: algorithm, metric, under, printed, measured, verdict, why."""
        import pandas as pd

        rows = [
            (
                judgement.algorithm,
                judgement.metric,
                judgement.where,
                judgement.printed.text if judgement.printed else "",
                judgement.value,
                judgement.verdict,
                judgement.why,
            )
            for judgement in self.judgements
        ]
        return pd.DataFrame(rows, columns=["algorithm", "metric", "under", "printed", "measured", "verdict", "why"])

    def __repr__(self) -> str:
        table = self.to_frame().drop(columns="why").to_string(max_rows=20, line_width=100, index=False)
        return "\n".join([f"{self.title}: {self.summary}", table, *self.notes])

    def _repr_html_(self) -> str:
        table = self.to_frame().to_html(max_rows=20, index=False)
        heading = escape(f"{self.title}: {self.summary}")
        return f"<p><b>{heading}</b></p>{table}<p>{'<br>'.join(map(escape, self.notes))}</p>"

    def counts(self) -> dict[VerdictName, int]:
        """The number of judgements for each verdict that occurs."""
        return counted(self.judgements)

    @property
    def summary(self) -> str:
        """The counts in words: "18 exact, 2 within"."""
        return in_words(self.counts())

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        return {
            "claim": self.name,
            "title": self.title,
            "source": self.source,
            "summary": self.summary,
            "counts": self.counts(),
            "notes": list(self.notes),
            "versions": dict(self.versions),
            "journal": self.journal,
            "verdicts": [judgement.to_dict() for judgement in self.judgements],
            "searches": [search.to_dict() for search in self.searches],
            "causes": [cause.to_dict() for cause in self.causes],
        }


@dataclass(frozen=True)
class FoundCause:
    """An error that explains several numbers of a claim.

    numbers  each number that it gives: its name, as it is printed, as measured, and as the error gives it
    """

    name: str
    kind: Literal["leak", "mistake"]
    sentence: str
    numbers: tuple[tuple[str, str, float, float], ...]

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        names = ("number", "printed", "measured", "by_cause")
        return {
            "cause": self.name,
            "kind": self.kind,
            "sentence": self.sentence,
            "numbers": [dict(zip(names, number, strict=True)) for number in self.numbers],
        }


@dataclass(frozen=True)
class Search:
    """The protocol nearest to those numbers of a metric that differ.

    rows     label, printed number, measured value and value under the nearest protocol
    nearest  the decisions in which the nearest protocol differs, in words; empty if the claimed one is the nearest
    off      the root mean square deviation of the claimed and of the nearest protocol
    """

    metric: str
    under: str
    rows: tuple[tuple[str, str, float, float], ...]
    nearest: tuple[str, ...]
    off: tuple[float, float]
    tried: int
    fitting: int

    def to_dict(self) -> dict[str, object]:
        """All fields as JSON-compatible data."""
        return {
            "metric": self.metric,
            "under": self.under,
            "tried": self.tried,
            "fitting": self.fitting,
            "off_by": {"claim": self.off[0], "nearest": self.off[1]},
            "decided_otherwise": list(self.nearest),
            "numbers": [
                {"algorithm": label, "printed": printed, "measured": measured, "nearest": near}
                for label, printed, measured, near in self.rows
            ],
        }

    @property
    def sentence(self) -> str:
        """The result in words."""
        if not self.nearest:
            return f"none of {self.tried:,} protocols that were tried comes nearer than the claim's own"
        fits = "gives all of them" if self.fitting else "is the nearest, and does not give them"
        return f"of {self.tried:,} protocols that were tried, this one {fits}: {'; '.join(self.nearest)}"


def counted(judgements: Iterable[Judgement]) -> dict[VerdictName, int]:
    """The number of judgements for each verdict, in the order of VERDICTS."""
    verdicts = [judgement.verdict for judgement in judgements]
    return {verdict: verdicts.count(verdict) for verdict in VERDICTS if verdict in verdicts}


def in_words(counts: Mapping[VerdictName, int]) -> str:
    """ "18 exact, 2 within"."""
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items()) or "nothing is claimed"
