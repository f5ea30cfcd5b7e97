"""Run inside Cornac's environment: the plug-in's scores beside those of Cornac's own calls, as JSON.

Reads from standard input ``{"data": path of an .npz, "cases": [[algorithm, parameters], ...], "seed": n}`` and writes
one object for each case. Cornac's side is its own way from triples to numbers: ``Dataset.build``, ``fit``, and
``rank`` and ``rate`` with the unknown users and items in the global maps, as its evaluation has them.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import random
import sys
import time
from collections import OrderedDict

import cornac.models
import numpy as np
from cornac.data import Dataset

from repro.data.interactions import Interactions
from repro.plugin import History, Queries
from repro_cornac.declarations import CANONICAL
from repro_cornac.models import MODELS
from repro_cornac.plugin import repro_framework

PAIRS = 400
# Their factors are as many as the global maps hold, so that unknown users and items would change all of them.
PAIRWISE = ("bpr", "BPR", "WBPR", "MMMF")


def rows_of(path: str) -> Interactions:
    with np.load(path) as data:
        return Interactions(
            data["users"], data["items"], data["ratings"], None, np.arange(data["n_users"]), np.arange(data["n_items"])
        )


def own_arguments(name: str, parameters: dict[str, object]) -> tuple[str, dict[str, object]]:
    """The class of Cornac, and the arguments that a user of Cornac would write."""
    mapping = {}
    for canonical in CANONICAL:
        if canonical.name == name:
            name, mapping = canonical.own.rpartition(".")[2], canonical.mapping
    arguments = {mapping.get(key, key): value for key, value in parameters.items()}
    for own in MODELS[name].parameters:
        if own.layers and own.name in arguments:
            arguments[own.name] = [int(part) for part in str(arguments[own.name]).split(",")]
    return name, {**arguments, **MODELS[name].fixed}


def cornacs_own(train: Interactions, name: str, arguments: dict[str, object], seed: int):
    """A model fitted by Cornac's own means, and the maps from codes to its indices."""
    users, items = OrderedDict(), OrderedDict()
    triples = list(zip(train.users.tolist(), train.items.tolist(), train.ratings.tolist(), strict=True))
    data = Dataset.build(triples, global_uid_map=users, global_iid_map=items, seed=seed)
    if name not in PAIRWISE:
        for code in range(train.n_users):
            users.setdefault(code, len(users))
        for code in range(train.n_items):
            items.setdefault(code, len(items))
    made = getattr(cornac.models, name)
    accepted = inspect.signature(made.__init__).parameters
    arguments = arguments | {k: v for k, v in (("seed", seed), ("verbose", False)) if k in accepted}
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    if MODELS[name].torch:
        import torch

        torch.manual_seed(seed)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        model = made(**arguments)
        model.fit(data)
    return model, users, items


def ranked_scores(model, users: OrderedDict, items: OrderedDict, train: Interactions) -> np.ndarray:
    """All users by all items as ``rank`` scores them; NaN where Cornac knows nothing."""
    actual = np.full((train.n_users, train.n_items), np.nan)
    codes = np.fromiter(items, dtype=np.int64)
    for code, user in users.items():
        try:
            actual[code, codes] = model.rank(user, item_indices=np.arange(len(items)))[1]
        except ValueError:  # NMF with biases cannot score all items at once, but one by one
            known = np.arange(model.num_items)
            actual[code, codes[known]] = [model.score(user, item) for item in known]
    return actual


def rates(model, users: OrderedDict, items: OrderedDict, pairs: np.ndarray) -> list[float]:
    """The value of ``rate`` for each pair, not clipped; NaN where it fails."""
    rated = []
    for user, item in pairs.tolist():
        try:
            rated.append(float(np.ravel(model.rate(users[user], items[item], clipping=False))[0]))
        except IndexError:
            rated.append(np.nan)
    return rated


def distance(mine: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference where Cornac has a number."""
    there = ~np.isnan(theirs)
    return float(np.abs(mine[there] - theirs[there]).max())


def global_states() -> list[object]:
    """The states of all global sources of randomness."""
    import torch

    return [random.getstate(), np.random.get_state()[1].tolist(), torch.get_rng_state().tolist()]  # noqa: NPY002


def compared(train: Interactions, name: str, parameters: dict[str, object], seed: int) -> dict[str, object]:
    algorithm = next(entry for entry in repro_framework().algorithms if entry.name == name)
    defaults = {parameter.name: parameter.default for parameter in algorithm.parameters}
    recommender = algorithm.make(**(defaults | parameters))
    before = global_states()
    recommender.fit(train, seed=seed)
    untouched = global_states() == before
    users, items = np.arange(train.n_users, dtype=np.int32), np.arange(train.n_items, dtype=np.int32)
    began = time.perf_counter()
    scores = recommender.score(Queries(users, History(None)), items)
    seconds = time.perf_counter() - began
    model, user_map, item_map = cornacs_own(train, *own_arguments(name, parameters), seed)
    began = time.perf_counter()
    theirs = ranked_scores(model, user_map, item_map, train)
    result = {
        "name": name,
        "score": distance(scores.values, theirs),
        "numbers": int((~np.isnan(theirs)).sum()),
        "unnumbered": bool(np.isnan(scores.values[np.isnan(theirs)]).all()) if name in PAIRWISE else True,
        "seconds": seconds,
        "rank_seconds": time.perf_counter() - began,
        "untouched": untouched,
    }
    if algorithm.predicts:
        pairs = pairs_of(train)
        predicted = recommender.predict(
            Queries(pairs[:, 0].astype(np.int32), History(None)), pairs[:, 1].astype(np.int32)
        )
        rated = np.array(rates(model, user_map, item_map, pairs))
        result["predict"] = distance(predicted.values, rated)
        result["failed"] = int(np.isnan(rated).sum())
    return result


def pairs_of(train: Interactions) -> np.ndarray:
    """Pairs drawn at random, and every combination of the first known and unknown users and items."""
    rng = np.random.default_rng(1)
    drawn = np.column_stack([rng.integers(0, train.n_users, PAIRS), rng.integers(0, train.n_items, PAIRS)])
    some = [np.unique([np.argmax(counts), np.argmin(counts)]) for counts in (train.user_counts(), train.item_counts())]
    return np.vstack([drawn, [(user, item) for user in some[0] for item in some[1]]])


def signatures() -> dict[str, dict[str, object]]:
    """The defaults of each class of the table, as Cornac has them."""
    return {
        name: {
            key: parameter.default
            for key, parameter in inspect.signature(getattr(cornac.models, name).__init__).parameters.items()
            if isinstance(parameter.default, str | int | float | bool | list | tuple | None)
        }
        for name in MODELS
    }


def main() -> None:
    request = json.load(sys.stdin)
    if request.get("signatures"):
        answer: object = signatures()
    else:
        train = rows_of(request["data"])
        answer = [compared(train, name, parameters, request["seed"]) for name, parameters in request["cases"]]
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
