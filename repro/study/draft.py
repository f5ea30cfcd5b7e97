"""A first study of a data set, written by looking at the data: `repro study new`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from repro.data import Description, Interactions, datasets, describe, load_dataset, prepare
from repro.data.registry import SYNTHETIC
from repro.errors import ReproError, StudyError
from repro.plugin import plugins
from repro.protocol import Protocol, Value
from repro.protocol.toml import Place, write_toml
from repro.split import make_folds

# The largest catalogue for algorithms that hold a matrix of items x items, and the most rows for neighbours.
_DENSE_ITEMS, _MANY_ROWS = 20_000, 5_000_000
# The smallest number, and share, of users whom a split by time must test.
_FEWEST_USERS, _LEAST_SHARE = 50, 0.05
# Algorithms from simple to complex, each of the first framework here that has it.
_ALGORITHMS = ("popularity", "item-knn", "ease", "implicit-als", "bpr")
_FRAMEWORKS = ("reference", "implicit", "lenskit", "cornac", "recbole", "recpack", "rectools")
_MOST_ALGORITHMS = 4
_SEVERAL_RELEVANT = ("ndcg@10", "recall@10", "precision@10")
_ONE_RELEVANT = ("ndcg@10", "hit@10", "rr@10")
_PRACTICAL = ("time-split", "leave-one-last", "random-80-20", "implicit-default")


@dataclass(frozen=True)
class Draft:
    """The choices of a first study, each with its reason and the alternatives (``why``, by the key of the study).

    changes   decisions that differ from those of the protocol
    metrics   names
    """

    data: str
    figures: Description
    protocol: str
    changes: Mapping[str, Value]
    metrics: tuple[str, ...]
    algorithms: tuple[str, ...]
    question: str
    seed: int = 42
    why: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def with_choices(
        self,
        protocol: str | None = None,
        metrics: Sequence[str] = (),
        algorithms: Sequence[str] = (),
        question: str | None = None,
        seed: int | None = None,
    ) -> Draft:
        """The draft with some choices made by the user."""
        why, proposed = dict(self.why), self.metrics
        changes = dict(self.changes)
        chosen = protocol or self.protocol
        if chosen != self.protocol:
            why["protocol"] = ("As chosen.", _others(chosen))
            changes = _changes_under(chosen, changes)
            single = Protocol.load(chosen)["candidates.relevant"] == "one" or chosen == "leave-one-last"
            proposed = _ONE_RELEVANT if single else _SEVERAL_RELEVANT
            why["metrics"] = (_about_metrics(single), *why["metrics"][1:])
        return replace(
            self,
            protocol=chosen,
            changes=changes,
            metrics=tuple(metrics) or proposed,
            algorithms=tuple(algorithms) or self.algorithms,
            question=self.question if question is None else question,
            seed=self.seed if seed is None else seed,
            why=why | ({"metrics": ("As chosen.",)} if metrics else {}),
        )

    def to_toml(self) -> str:
        """The study as the text of a file whose comments give the reasons and the alternatives."""
        document: dict[str, Any] = {
            "question": self.question,
            "seed": self.seed,
            "metrics": list(self.metrics),
            "data": {"name": self.data},
            "protocol": {"base": self.protocol},
            "algorithms": [{"use": use} for use in self.algorithms],
        }
        remarks: dict[Place, Sequence[str]] = {(key,): lines for key, lines in self.why.items() if "." not in key}
        for key, value in self.changes.items():
            *tables, leaf = key.split(".")
            table = document["protocol"]
            for name in tables:
                table = table.setdefault(name, {})
            table[leaf] = value
            remarks["protocol", *tables, leaf] = self.why.get(key, ())
        return write_toml(document, None, remarks)


def draft_study(data: str | Path, folder: Path) -> Draft:
    """A study of the data set of that name, or in that file, for a file in ``folder``.

    The protocol fits what the data has: timestamps lead to a split by time, ratings to a threshold of relevance, and
    repeated pairs to a rule for them. Algorithms are those of frameworks that can run here.
    """
    name = os.fspath(data)
    known = name in (*datasets(), SYNTHETIC)
    if not known and not Path(name).is_file():
        raise StudyError(
            f"there is no file {name}, and no data set of that name; give the path of a file of users, items and, "
            "where there are any, ratings and times, or a name of `repro data list`"
        )
    source = load_dataset(name if known else Path(name))
    if not len(source):
        raise StudyError(f"{name} has no rows; a study needs interactions of users with items")
    figures = describe(source)
    changes, why = _of_ratings(source, figures)
    protocol, reason = _split(source, figures, changes)
    if protocol == "implicit-default":
        changes.pop("data.duplicates", None)
    metrics = (
        ("ndcg@10", "hit@10", "rr@10") if protocol == "leave-one-last" else ("ndcg@10", "recall@10", "precision@10")
    )
    algorithms = _algorithms(figures)
    why |= {
        "data": (_in_words(name, figures), *_sparse(figures)),
        "protocol": (reason, _others(protocol), f"`repro protocol show {protocol}` prints every decision."),
        "metrics": (
            _about_metrics(protocol == "leave-one-last"),
            "Others: map@10, auc, catalogue-coverage@10 (`repro metrics list`)"
            + ("; of predicted ratings: rmse, mae." if figures.explicit else "."),
        ),
        "seed": ("Of all random draws: the same seed gives the same numbers.",),
        "algorithms": (
            "Popularity is the baseline that every other algorithm must beat. These frameworks can run here;",
            '"*/item-knn" is an algorithm in all of them. `repro algorithms list` lists more, with their parameters.',
        ),
    }
    written = name if known else os.path.relpath(name, folder or ".")
    question = f"Which algorithm recommends best on {Path(name).stem}?"
    return Draft(Path(written).as_posix(), figures, protocol, changes, metrics, algorithms, question, why=why)


def _of_ratings(source: Interactions, figures: Description) -> tuple[dict[str, Value], dict[str, tuple[str, ...]]]:
    """The rules for relevance and for repeated pairs, with the reasons."""
    changes: dict[str, Value] = {}
    why: dict[str, tuple[str, ...]] = {}
    rated = figures.explicit and len(figures.histogram) > 1
    counts = rated and _are_counts(figures)
    if rated and not counts:
        threshold = _threshold(figures)
        share = sum(rows for rating, rows in figures.histogram.items() if rating >= threshold) / figures.ratings
        changes |= {"relevance.rule": "threshold", "relevance.threshold": threshold}
        low, high = min(figures.histogram), max(figures.histogram)
        why["relevance.rule"] = (
            f"Ratings go from {low:g} to {high:g}; {threshold:g} and more count as relevant, as {share:.0%} do.",
            'Others: rule = "any" counts every held-out item, "user-mean" those that a user rates above the own mean.',
        )
    if figures.duplicates:
        keep = "last" if rated and not counts and figures.first_time is not None else "first"
        changes["data.duplicates"] = keep
        why["data.duplicates"] = (
            f"{figures.duplicates:,} of {figures.ratings:,} rows repeat a user and an item; a pair keeps one row.",
            'Others: "first", "last", "mean" or "sum" of the ratings, "error" to stop.',
        )
    return changes, why


def _are_counts(figures: Description) -> bool:
    """Whether ratings look like numbers of events: whole numbers from 1 on, most of them small, some large."""
    values = figures.histogram
    whole = all(value == int(value) for value in values)
    return (
        whole and min(values) >= 1 and max(values) > 20 and max(values, key=lambda value: values[value]) == min(values)
    )


def _threshold(figures: Description) -> float:
    """The smallest rating in the upper quarter of the scale: 4 of 1 to 5, 8 of 1 to 10, 1 of 0 and 1."""
    low, high = min(figures.histogram), max(figures.histogram)
    return min(value for value in figures.histogram if value >= low + 0.75 * (high - low))


def _split(source: Interactions, figures: Description, changes: Mapping[str, Value]) -> tuple[str, str]:
    """A protocol that tests enough users of this data, and why."""
    timed = source.timestamps is not None and len(np.unique(source.timestamps)) > 1
    if timed:
        tested = _tested_users(source, "time-split", changes)
        if tested >= max(min(_FEWEST_USERS, figures.users // 4), _LEAST_SHARE * figures.users, 1):
            return "time-split", (
                f"The rows have times: the latest fifth is the test, and {tested:,} of {figures.users:,} users have "
                "a past, and something relevant after it."
            )
        tested = _tested_users(source, "leave-one-last", changes)
        if tested:
            return "leave-one-last", (
                "The rows have times, but a split at one moment leaves too few users with rows on both sides: the "
                f"latest row of each user is the test, of {tested:,} of {figures.users:,} users."
            )
    reason = "The rows have no times" if source.timestamps is None else "The times do not order the rows of users"
    if figures.explicit and len(figures.histogram) > 1 and not _are_counts(figures):
        return "random-80-20", f"{reason}: a random fifth of all rows is the test."
    return "implicit-default", (
        f"{reason}, and no ratings to compare: every row is a positive one, and a random fifth of each user's items is "
        "the test."
    )


def _tested_users(source: Interactions, name: str, changes: Mapping[str, Value]) -> int:
    """The number of users with a relevant row in the test part of the protocol on this data."""
    with suppress(ReproError):
        protocol = Protocol.load(name).replace(changes)
        prepared, _ = prepare(source, protocol, 42)
        split = make_folds(prepared, protocol, 42)
        test = split.interactions.select(split.folds[0].test)
        threshold = protocol.number("relevance.threshold") if "relevance.threshold" in protocol else -np.inf
        return len(np.unique(test.users[test.ratings >= threshold]))
    return 0


def _changes_under(protocol: str, changes: Mapping[str, Value]) -> dict[str, Value]:
    """The changes that a chosen protocol needs: of one of a paper, only what repeated pairs mean."""
    base = Protocol.load(protocol)
    needed = {
        key: value
        for key, value in changes.items()
        if (key == "data.duplicates" and base[key] == "error")
        or (key.startswith("relevance.") and protocol in _PRACTICAL and protocol != "implicit-default")
    }
    base.replace(needed)
    return needed


def _algorithms(figures: Description) -> tuple[str, ...]:
    """Algorithms of frameworks that can run here, and that data of this size allows; the simplest first."""
    installed = plugins()
    here = [name for name in installed.frameworks if installed.location(name) != "missing"]
    ordered = sorted(here, key=lambda name: _FRAMEWORKS.index(name) if name in _FRAMEWORKS else len(_FRAMEWORKS))
    chosen = []
    for algorithm in _ALGORITHMS:
        too_large = {"ease": figures.items > _DENSE_ITEMS, "item-knn": figures.ratings > _MANY_ROWS}
        if too_large.get(algorithm):
            continue
        owners = [name for name in ordered if name in installed.frameworks_with(algorithm)]
        uses = [f"{name}/{algorithm}" for name in owners]
        # Lists are better ranked by scores for ranking than by predicted ratings.
        chosen += sorted(uses, key=_ranks_by_ratings)[:1]
    if not chosen:
        raise StudyError(
            "no framework that can run here has an algorithm for a first study; `repro plugins list` shows how to "
            "install one, such as `pip install recsys-repro-reference`"
        )
    return tuple(chosen[:_MOST_ALGORITHMS])


def _ranks_by_ratings(use: str) -> bool:
    algorithm = plugins().algorithm(use)[1]
    return algorithm.kind_of_scores({each.name: each.default for each in algorithm.parameters}) == "ratings"


def _in_words(name: str, figures: Description) -> str:
    counts = figures.explicit and _are_counts(figures)
    what = "ratings" if figures.explicit else "rows without ratings"
    return (
        f"{Path(name).name}: {figures.ratings:,} {what} of {figures.users:,} users and {figures.items:,} items "
        f"(density {figures.density:.2%}), {figures.time_span}."
        + (" The ratings look like counts of events: every row is a positive one." if counts else "")
    )


def _sparse(figures: Description) -> tuple[str, ...]:
    median = figures.per_user[1]
    if median >= 5:
        return ()
    return (
        f"Half of the users have {median:g} rows or fewer. Papers often keep users and items with five rows or more",
        "(data.user_core = 5 and data.item_core = 5 under [protocol]); that changes the question, so state it.",
    )


def _about_metrics(single: bool) -> str:
    if single:
        return "Of one held-out item in a list: whether it is there (hit), and how early (ndcg, rr), is all there is."
    return "How good the whole list is (ndcg), how much it finds (recall), and how little is wrong in it (precision)."


def _others(protocol: str) -> str:
    others = [name for name in _PRACTICAL if name != protocol]
    return f"Others: {', '.join(others)}, random-5fold, and those of papers (`repro protocol list`)."
