"""The numbers of some lists under a protocol, and the tables that people take away."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from repro.data.interactions import IdArray
from repro.evaluate.measuring import Asked, MeasuredFrames
from repro.evaluation.metrics import Averaged
from repro.evaluation.suspicion import Finding, Subject, Value, find_suspicious
from repro.protocol import Protocol

# What repro.evaluate.mismatches says of the inputs, with the reason.
SAID_OF_INPUTS = ("lists.empty", "scores.missing")


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was measured, by the name that was asked for, and under which protocol.

    The tables carry in ``attrs`` what their numbers mean: the name and hash of the protocol, the full names.
    """

    protocol: Protocol
    asked: Asked
    measured: MeasuredFrames
    user_ids: IdArray

    @property
    def found(self) -> Mapping[str, Averaged]:
        """The numbers by the names that were asked for."""
        return self.measured.found

    def subject(self, name: str, *, identified: bool = False) -> Subject:
        """What is known of the recommendations, under a name for them, to find out what is suspicious.

        ``identified`` by the values of every user, where other recommendations are compared with them.
        """
        values = [
            Value(
                asked,
                averaged.value,
                low,
                high,
                self.asked[asked].cutoff,
                self.asked[asked].metric.better,
            )
            for asked, averaged in self.found.items()
            for low, high in [self.measured.intervals.get(asked, (None, None))]
        ]
        numbers = ""
        if identified and len(self.without_users) < len(self.asked):
            numbers = hashlib.sha256(self.per_user().to_csv(index=False).encode()).hexdigest()
        return Subject(name, values, self.measured.facts, numbers=numbers)

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is suspicious about the numbers (:mod:`repro.evaluation.suspicion`)."""
        return suspicious({"the recommendations": self})

    def table(self) -> pd.DataFrame:
        """One row for each metric: ``metric``, ``value`` and ``users`` (how many are averaged).

        ``lowest`` and ``highest`` are the extremes of the value over all orders of tied items, where they are known.
        """
        table = pd.DataFrame(
            {
                "metric": list(self.found),
                "value": [averaged.value for averaged in self.found.values()],
                "users": [averaged.users_counted for averaged in self.found.values()],
                "lowest": [self.measured.intervals.get(name, (np.nan,))[0] for name in self.found],
                "highest": [self.measured.intervals.get(name, (np.nan,))[-1] for name in self.found],
            }
        )
        table.attrs.update(self._meaning())
        return table

    def per_user(self) -> pd.DataFrame:
        """One row for each user and metric, of the metrics that have a number for each user."""
        found = {name: averaged for name, averaged in self.found.items() if self.asked[name].per_user}
        table = pd.DataFrame(
            {
                "user": np.concatenate([self.user_ids[averaged.users] for averaged in found.values()]),
                "metric": np.repeat(list(found), [len(averaged.users) for averaged in found.values()]),
                "value": np.concatenate([averaged.values for averaged in found.values()]),
            }
        )
        table.attrs.update(self._meaning())
        return table

    @property
    def without_users(self) -> list[str]:
        """The metrics that are about all users together."""
        return [name for name, one in self.asked.items() if not one.per_user]

    def _meaning(self) -> dict[str, Any]:
        return {
            "findings": [asdict(one) for one in self.findings],
            "protocol": {"name": self.protocol.name, "hash": self.protocol.hash},
            "metrics": {name: one.full_name for name, one in self.asked.items()},
        }


def suspicious(found: Mapping[str, Evaluation]) -> tuple[Finding, ...]:
    """What is suspicious about evaluations under one protocol, which are called by the names in ``found``."""
    protocol = next(iter(found.values())).protocol
    subjects = [one.subject(name, identified=len(found) > 1) for name, one in found.items()]
    every = find_suspicious(subjects, protocol.text("ties.break"), protocol.text("missing.rank"))
    return tuple(one for one in every if one.code not in SAID_OF_INPUTS)
