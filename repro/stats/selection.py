"""Selection of settings on some users and evaluation on the others.

The best of several settings of an algorithm is best partly by chance, and a test on the same users is biased in its
favour (Gunawardana & Shani 2009, section 4.3). Settings are therefore selected on a share of the users and tested on
the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from repro.errors import StudyError
from repro.rng import child_keys, id_keys, stream
from repro.stats.effects import mean
from repro.stats.resampling import Users


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected settings, and their values on the evaluation users.

    chosen  for each algorithm, the system that is the best of its settings
    means   the means of all systems on the selection users
    users   the number of selection users
    values  evaluation users x selected systems
    """

    chosen: dict[str, str]
    means: dict[str, float]
    users: int
    values: pd.DataFrame


def selection_users(users: Users, share: float, seed: int = 0) -> npt.NDArray[np.bool_]:
    """A mask of the selection users: a ``share`` of all users, drawn by their ids, independent of their order."""
    if not 0 < share < 1:
        raise StudyError(f"the share of users for the selection is {share}; it must lie between 0 and 1, such as 0.5")
    keys = child_keys(stream(seed, "stats", "tuning"), id_keys(users))
    selected = np.zeros(len(keys), dtype=np.bool_)
    selected[np.argsort(keys, kind="stable")[: round(share * len(keys))]] = True
    return selected


def select_settings(
    values: pd.DataFrame, algorithms: Mapping[str, str], share: float, better: str = "higher", seed: int = 0
) -> Selection:
    """Select the best setting of each algorithm on a ``share`` of the users.

    ``values`` is users x systems; ``algorithms`` maps each system to the algorithm of which it is a setting. The
    settings of an algorithm are compared by their means over the users with values of all of them; the first of equals
    is selected.
    """
    if better == "neither":
        raise StudyError("settings cannot be selected by a metric without a better direction; choose another metric")
    selected = selection_users(values.index.to_numpy(), share, seed)
    chosen: dict[str, str] = {}
    means: dict[str, float] = {}
    for algorithm in dict.fromkeys(algorithms[system] for system in values.columns):
        settings = [system for system in values.columns if algorithms[system] == algorithm]
        complete = values.loc[selected, settings].dropna()
        if len(settings) > 1 and complete.empty:
            raise StudyError(
                f"no selection user has values of all settings of {algorithm}; use a larger share than {share}"
            )
        means |= {system: mean(complete[system]) for system in settings}
        chosen[algorithm] = (min if better == "lower" else max)(settings, key=means.__getitem__)
    return Selection(chosen, means, int(selected.sum()), values.loc[~selected, list(chosen.values())])
