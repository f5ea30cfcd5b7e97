"""Selection of settings on some users and evaluation on the others.

The best of several settings of an algorithm is best partly by chance, and a test on the same users is biased in its
favour (Gunawardana & Shani 2009, section 4.4). Settings are therefore selected on a share of the users and tested on
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
from repro.stats.users import Users


@dataclass(frozen=True, eq=False)
class Tuned:
    """The selected settings, and their values on the evaluation users.

    chosen        for each algorithm, the system that is the best of its settings
    means         the means of all systems on the tuning users
    tuning_users  the number of tuning users
    values        evaluation users x selected systems
    """

    chosen: dict[str, str]
    means: dict[str, float]
    tuning_users: int
    values: pd.DataFrame


def tuning_users(users: Users, share: float, seed: int = 0) -> npt.NDArray[np.bool_]:
    """A mask of the tuning users: a ``share`` of them, drawn by their ids, independent of their order."""
    if not 0 < share < 1:
        raise StudyError(f"the share of users for tuning is {share}; it must lie between 0 and 1, such as 0.5")
    keys = child_keys(stream(seed, "stats", "tuning"), id_keys(users))
    chosen = np.zeros(len(keys), dtype=np.bool_)
    chosen[np.argsort(keys, kind="stable")[: round(share * len(keys))]] = True
    return chosen


def tune(
    values: pd.DataFrame, algorithms: Mapping[str, str], share: float, better: str = "higher", seed: int = 0
) -> Tuned:
    """Select the best setting of each algorithm on a ``share`` of the users.

    ``values`` is users x systems; ``algorithms`` maps each system to the algorithm of which it is a setting. The
    settings of an algorithm are compared by their means over the users with values of all of them; the first of equals
    is selected.
    """
    if better == "neither":
        raise StudyError("settings cannot be selected by a metric without a better direction; choose another metric")
    for_tuning = tuning_users(values.index.to_numpy(), share, seed)
    chosen: dict[str, str] = {}
    means: dict[str, float] = {}
    for algorithm in dict.fromkeys(algorithms[system] for system in values.columns):
        settings = [system for system in values.columns if algorithms[system] == algorithm]
        tuning_values = values.loc[for_tuning, settings].dropna()
        if len(settings) > 1 and tuning_values.empty:
            raise StudyError(
                f"no tuning user has values of all settings of {algorithm}; use a larger share than {share}"
            )
        mean_of = {system: mean(tuning_values[system]) for system in settings}
        best = min if better == "lower" else max
        chosen[algorithm] = best(settings, key=mean_of.__getitem__)
        means |= mean_of
    return Tuned(chosen, means, int(for_tuning.sum()), values.loc[~for_tuning, list(chosen.values())])
