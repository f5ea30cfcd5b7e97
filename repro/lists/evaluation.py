"""The numbers of some lists under a protocol, and tables of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from repro.data.interactions import IdArray
from repro.evaluation.metrics import Averaged, Measure
from repro.evaluation.stages import Interval
from repro.evaluation.suspicion import Facts, Finding, Subject, Value, find_suspicious
from repro.protocol import Protocol

# Findings that repro.lists.mismatches makes of the inputs, with the reason.
MADE_OF_INPUTS = ("lists.empty", "scores.missing")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The numbers of lists under a protocol; metrics have the names by which they were requested.

    intervals  the lowest and highest number that any order of tied items gives, where it is known
    facts      counts from which findings are derived (:mod:`repro.evaluation.suspicion`)

    The tables have the name and hash of the protocol and the full names of the metrics in ``attrs``.
    """

    protocol: Protocol
    measures: Mapping[str, Measure]
    numbers: Mapping[str, Averaged]
    intervals: Mapping[str, Interval]
    facts: Facts
    user_ids: IdArray

    def subject(self, name: str, *, identified: bool = False) -> Subject:
        """The recommendations as a subject of findings, under a name for them.

        With ``identified``, the values of every user identify them, to compare them with other recommendations.
        """
        values = [
            Value(metric, averaged.value, *self._ends(metric), measure.cutoff, measure.metric.better)
            for (metric, averaged), measure in zip(self.numbers.items(), self.measures.values(), strict=True)
        ]
        digest = ""
        if identified and len(self.without_users) < len(self.measures):
            digest = hashlib.sha256(self.per_user().to_csv(index=False).encode()).hexdigest()
        return Subject(name, values, self.facts, numbers=digest)

    def _ends(self, metric: str) -> tuple[float | None, float | None]:
        return self.intervals.get(metric, (None, None))

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """Suspicious properties of the numbers (:mod:`repro.evaluation.suspicion`)."""
        return suspicious({"the recommendations": self})

    def table(self) -> pd.DataFrame:
        """One row for each metric: ``metric``, ``value`` and ``users`` (how many are averaged).

        ``lowest`` and ``highest`` are the extremes of the value over all orders of tied items, where they are known.
        """
        ends = np.array([self._ends(metric) for metric in self.numbers], dtype=np.float64)
        return self._with_attributes(
            {
                "metric": list(self.numbers),
                "value": [averaged.value for averaged in self.numbers.values()],
                "users": [averaged.users_counted for averaged in self.numbers.values()],
                "lowest": ends[:, 0],
                "highest": ends[:, 1],
            }
        )

    def per_user(self) -> pd.DataFrame:
        """One row for each user and metric, of the metrics that have a value for each user."""
        numbers = {name: averaged for name, averaged in self.numbers.items() if self.measures[name].per_user}
        return self._with_attributes(
            {
                "user": np.concatenate([self.user_ids[averaged.users] for averaged in numbers.values()]),
                "metric": np.repeat(list(numbers), [len(averaged.users) for averaged in numbers.values()]),
                "value": np.concatenate([averaged.values for averaged in numbers.values()]),
            }
        )

    @property
    def without_users(self) -> list[str]:
        """The metrics that are about all users together."""
        return [name for name, measure in self.measures.items() if not measure.per_user]

    def _with_attributes(self, columns: Mapping[str, object]) -> pd.DataFrame:
        table = pd.DataFrame(columns)
        table.attrs["findings"] = [asdict(finding) for finding in self.findings]
        table.attrs["protocol"] = {"name": self.protocol.name, "hash": self.protocol.hash}
        table.attrs["metrics"] = {name: measure.full_name for name, measure in self.measures.items()}
        return table


def suspicious(evaluations: Mapping[str, Evaluation]) -> tuple[Finding, ...]:
    """The findings about evaluations under one protocol, by the names of the recommendations."""
    protocol = next(iter(evaluations.values())).protocol
    several = len(evaluations) > 1
    subjects = [evaluation.subject(name, identified=several) for name, evaluation in evaluations.items()]
    findings = find_suspicious(subjects, protocol.text("ties.break"), protocol.text("missing.rank"))
    return tuple(finding for finding in findings if finding.code not in MADE_OF_INPUTS)
