"""Tuning users and evaluation users kept apart.

Who tries several settings of an algorithm and reports the best of them has chosen it by chance as well as by merit,
and a test on the same users takes the chance for merit (Gunawardana & Shani 2009, section 4.4). So settings are
chosen on some users, and tests are made on the others.
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
    """The settings chosen, and the values of these on the other users.

    chosen  by algorithm, the system that was the best of its settings
    means   of all systems, on the users on which they were chosen
    values  users x systems: the evaluation users, and the systems chosen
    """

    chosen: dict[str, str]
    means: dict[str, float]
    tuning_users: int
    values: pd.DataFrame


def tuning_users(users: Users, share: float, seed: int = 0) -> npt.NDArray[np.bool_]:
    """Which users are for tuning: ``share`` of them, drawn by their ids, whatever their order."""
    if not 0 < share < 1:
        raise StudyError(f"the share of users for tuning is {share}; it must lie between 0 and 1, such as 0.5")
    keys = child_keys(stream(seed, "stats", "tuning"), id_keys(users))
    chosen = np.zeros(len(keys), dtype=np.bool_)
    chosen[np.argsort(keys, kind="stable")[: round(share * len(keys))]] = True
    return chosen


def tune(
    values: pd.DataFrame, algorithms: Mapping[str, str], share: float, better: str = "higher", seed: int = 0
) -> Tuned:
    """Choose the best setting of each algorithm on a ``share`` of the users.

    ``values`` is users x systems; ``algorithms`` says of which algorithm each system is a setting. The settings of an
    algorithm are judged by their means over the users that all of them have; of equal ones the first is taken.
    """
    if better == "neither":
        raise StudyError("settings cannot be chosen by a metric of which neither direction is the better one")
    for_tuning = tuning_users(values.index.to_numpy(), share, seed)
    chosen: dict[str, str] = {}
    means: dict[str, float] = {}
    for algorithm in dict.fromkeys(algorithms[system] for system in values.columns):
        settings = [system for system in values.columns if algorithms[system] == algorithm]
        on = values.loc[for_tuning, settings].dropna()
        if len(settings) > 1 and on.empty:
            raise StudyError(
                f"no tuning user has a value of all settings of {algorithm}; take a larger share than {share}"
            )
        of_settings = {system: mean(on[system]) for system in settings}
        pick = min if better == "lower" else max
        chosen[algorithm] = pick(settings, key=of_settings.__getitem__)
        means |= of_settings
    return Tuned(chosen, means, int(for_tuning.sum()), values.loc[~for_tuning, list(chosen.values())])
