"""The numbers of some lists under a protocol, and the tables that people take away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from repro.data.interactions import IdArray
from repro.evaluate.measuring import Asked
from repro.metrics import Averaged
from repro.protocol import Protocol


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What was measured, by the name that was asked for, and under which protocol.

    The tables carry in ``attrs`` what their numbers mean: the name and hash of the protocol, the full names.
    """

    protocol: Protocol
    asked: Asked
    found: Mapping[str, Averaged]
    user_ids: IdArray

    def table(self) -> pd.DataFrame:
        """One row for each metric: ``metric``, ``value`` and ``users`` (how many are averaged)."""
        table = pd.DataFrame(
            {
                "metric": list(self.found),
                "value": [averaged.value for averaged in self.found.values()],
                "users": [averaged.users_counted for averaged in self.found.values()],
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

    def _meaning(self) -> dict[str, dict[str, str]]:
        return {
            "protocol": {"name": self.protocol.name, "hash": self.protocol.hash},
            "metrics": {name: one.full_name for name, one in self.asked.items()},
        }
