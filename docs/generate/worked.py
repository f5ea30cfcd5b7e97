"""Worked examples: small cases in which a decision changes which of two systems is better, computed when it is asked.

A case of lists has users with held-out, training and validation items, and the scores of two systems. A case of a study
has rows, and two algorithms that are fitted to them. Both are in docs/why/cases.toml, and no number is.
"""

from __future__ import annotations

import math
import re
import tempfile
import tomllib
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tables import code, table

from repro.data.interactions import Interactions
from repro.evaluation.evaluation import Evaluation
from repro.evaluation.fold import FoldData
from repro.evaluation.kept_scores import ReplayedScores
from repro.evaluation.metrics import metrics, parse_measure
from repro.plugin import FALLBACK, Scores
from repro.protocol import Value, resolve, toml_value
from repro.study import Study

CASES = Path(__file__).parents[1] / "why" / "cases.toml"
LISTS = {
    "split.strategy": "ratio",
    "relevance.rule": "threshold",
    "relevance.threshold": 4.0,
    "candidates.base": "all-items",
}
ROWS = {
    "split.strategy": "ratio",
    "split.order": "random",
    "relevance.rule": "threshold",
    "relevance.threshold": 4.0,
    "candidates.base": "all-items",
}
SCALE = (1.0, 5.0)


@dataclass(frozen=True)
class Example:
    """A case with the values of both systems under both values of a decision."""

    decision: str
    case: Mapping[str, Any]
    numbers: tuple[tuple[float, float], tuple[float, float]]

    @property
    def systems(self) -> tuple[str, str]:
        first, second = self.case.get("algorithms", ("first", "second"))
        return first.removeprefix("reference/"), second.removeprefix("reference/")

    def winner(self, column: int) -> int | None:
        """The system that is better under one of the two values; None where they are equal."""
        before, after = self.numbers[column]
        lower = metrics()[self.case["metric"].split("@")[0].split("[")[0]].better == "lower"
        if math.isclose(before, after, abs_tol=1e-12):
            return None
        return int((before > after) == lower)

    @property
    def turns(self) -> bool:
        """Whether the other value makes the other system the better one."""
        winners = [self.winner(0), self.winner(1)]
        return all(math.isfinite(number) for pair in self.numbers for number in pair) and sorted(
            -1 if winner is None else winner for winner in winners
        ) == [0, 1]


def examples() -> dict[str, Example]:
    """The example of each decision that has one."""
    cases = tomllib.loads(CASES.read_text(encoding="utf-8"))
    return {decision: compute(decision, case) for decision, case in cases.items()}


def compute(decision: str, case: Mapping[str, Any]) -> Example:
    """Measure both systems of a case under both values of the decision."""
    measured = _of_study if "algorithms" in case else _of_lists
    before, after = (measured(case, {decision: value}) for value in case["values"])
    return Example(decision, case, (before, after))


def _entries(text: str) -> list[tuple[str, str]]:
    """The items of a text such as "A:5 B:3", with what stands after the colon."""
    return [(item, value) for item, _, value in (entry.partition(":") for entry in text.split())]


def _of_lists(case: Mapping[str, Any], change: Mapping[str, Value]) -> tuple[float, float]:
    settings = {**LISTS, **case.get("settings", {}), **change}
    protocol = resolve(settings, dict.fromkeys(settings, "here"), strict=frozenset(change))
    parts = {
        part: {user: _entries(text) for user, text in case.get(part, {}).items()}
        for part in ("train", "test", "validation")
    }
    scores = [{user: _entries(text) for user, text in case[system].items()} for system in ("first", "second")]
    users = sorted({user for part in (*parts.values(), *scores) for user in part})
    items = _sorted({item for part in (*parts.values(), *scores) for entries in part.values() for item, _ in entries})
    rows = {part: _interactions(entries, users, items) for part, entries in parts.items()}
    whole = _interactions(
        {user: [entry for part in parts.values() for entry in part.get(user, [])] for user in users}, users, items
    )
    fold = FoldData(whole, rows["train"], rows["test"], rows["validation"], np.empty(0, dtype=np.int32), None)
    measure = parse_measure(case["metric"], protocol, metrics())
    values = []
    for system in scores:
        recommender = ReplayedScores(_scores(system, users, items)).checked("given")
        values.append(float(Evaluation(fold, [measure], protocol, 1, SCALE).measure(recommender).value(measure)[0]))
    return values[0], values[1]


def _sorted(items: set[str]) -> list[str]:
    return sorted(items, key=int) if all(item.isdecimal() for item in items) else sorted(items)


def _interactions(entries: Mapping[str, list[tuple[str, str]]], users: list[str], items: list[str]) -> Interactions:
    rows = [
        (users.index(user), items.index(item), float(rating))
        for user in users
        for item, rating in entries.get(user, [])
    ]
    columns = np.array(rows, dtype=float).reshape(-1, 3)
    ids = (
        np.array([int(item) for item in items])
        if all(item.isdecimal() for item in items)
        else np.array(items, dtype=object)
    )
    return Interactions(
        columns[:, 0].astype(np.int32),
        columns[:, 1].astype(np.int32),
        columns[:, 2],
        np.zeros(len(columns), dtype=np.int64),
        np.array(users, dtype=object),
        ids,
        explicit=True,
    )


def _scores(system: Mapping[str, list[tuple[str, str]]], users: list[str], items: list[str]) -> Scores:
    """Scores of a system: "A:3"; "A:3*" is a fallback of the framework; what is not there has no score."""
    values = np.full((len(users), len(items)), np.nan)
    state = np.zeros(values.shape, dtype=np.uint8)
    for user, entries in system.items():
        for item, score in entries:
            position = users.index(user), items.index(item)
            values[position] = float(score.rstrip("*"))
            state[position] = FALLBACK if score.endswith("*") else 0
    return Scores(values, state)


def _of_study(case: Mapping[str, Any], change: Mapping[str, Value]) -> tuple[float, float]:
    settings = {**ROWS, **case.get("settings", {}), **change}
    protocol = resolve(settings, dict.fromkeys(settings, "here"), strict=frozenset(change))
    study = Study(_frame(case), protocol, case["algorithms"], [case["metric"]], seed=case.get("seed", 1))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = study.run(Path(folder) / "run", workers=1).table()[case["metric"]]
    first, second = values
    return float(first), float(second)


def _frame(case: Mapping[str, Any]) -> Any:
    import pandas as pd

    rows = [
        (user, item, *(float(part) for part in value.split("@")))
        for user, text in case["rows"].items()
        for item, value in _entries(text)
    ]
    return pd.DataFrame(rows, columns=["user", "item", "rating", "timestamp"][: len(rows[0])])


def shown(example: Example) -> str:
    """An example as Markdown: the case, the numbers, and who wins."""
    case = example.case
    first, second = example.systems
    lines = ["**Example.** " + _setting(example), "", _case_table(case), ""]
    rows = []
    for column, value in enumerate(case["values"]):
        winner = example.winner(column)
        numbers = [f"{number:.4f}" for number in example.numbers[column]]
        marked = [f"**{number}**" if winner == system else number for system, number in enumerate(numbers)]
        rows.append(
            (
                code(f"{example.decision} = {toml_value(value)}"),
                *marked,
                "equal" if winner is None else (first, second)[winner],
            )
        )
    lines += [table((f"{case['metric']} with", f"{first}:", f"{second}:", "better"), rows)]
    return "\n".join(lines)


def _setting(example: Example) -> str:
    case = example.case
    stated = [code(f"{key} = {toml_value(value)}") for key, value in case.get("settings", {}).items()]
    systems = (
        "The scores of two systems for a few users and items"
        if "algorithms" not in case
        else "The ratings of a few users"
    )
    return f"{systems}{', with ' + ', '.join(stated) if stated else ''}."


def _case_table(case: Mapping[str, Any]) -> str:
    if "algorithms" in case:
        return table(
            ("user", "item:rating, and the time after @"), [(user, text) for user, text in case["rows"].items()]
        )
    parts = {
        "held out": "test",
        "in training": "train",
        "in validation": "validation",
        "first system": "first",
        "second system": "second",
    }
    columns = {title: case[part] for title, part in parts.items() if case.get(part)}
    users = dict.fromkeys(user for part in columns.values() for user in part)
    return table(
        ("user", *columns), [(user, *(part.get(user, "–") for part in columns.values())) for user in sorted(users)]
    )


def with_examples(page: str, known: Mapping[str, Example]) -> str:
    """A page about decisions with the example of each below the text of its section."""
    sections = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    done = []
    for section in sections:
        decision = section.partition("\n")[0].removeprefix("## ")
        done.append(section.rstrip() + "\n\n" + (shown(known[decision]) + "\n\n" if decision in known else ""))
    return "".join(done)
