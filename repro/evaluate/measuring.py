"""From frames that were read to the numbers of each metric asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from repro.data.interactions import Interactions
from repro.errors import DataError, ProtocolError
from repro.evaluate.frames import Frames
from repro.metrics import (
    Averaged,
    Background,
    Measure,
    TrainRatings,
    average,
    average_errors,
    lacking,
    resolve_predictions,
    simple_measures,
)
from repro.plugin import Scores
from repro.protocol import Protocol
from repro.ranking import GivenLists, Ranked, RankingRules, rank_lists

NOBODY = np.empty(0, dtype=np.int32)
_MEANS = ("user-mean", "item-mean", "global-mean")

Asked = Mapping[str, Measure]


def measure(frames: Frames, asked: Asked, protocol: Protocol, seed: int) -> dict[str, Averaged]:
    """The number of each measure, by the name it was asked for."""
    simple = simple_measures(asked.values())
    lists = [one for one in simple if one.metric.kind != "prediction"]
    found: dict[str, Averaged] = {}
    if lists:
        found = measure_lists(rank(frames, lists, protocol, seed), lists, frames.background, protocol)
    for one in simple:
        if one.metric.kind == "prediction":
            found[one.full_name] = _of_predictions(one, frames, protocol)
    values = {name: (averaged.value, averaged.users_counted) for name, averaged in found.items()}
    return {
        name: Averaged(*one.joined(values), NOBODY, np.empty(0)) if one.parts else found[one.full_name]
        for name, one in asked.items()
    }


def measure_lists(
    ranked: Ranked, measures: Iterable[Measure], background: Background, protocol: Protocol
) -> dict[str, Averaged]:
    """The number of each measure of lists that are ranked already, by its full name."""
    empty = ranked.lengths == 0
    found: dict[str, Averaged] = {}
    for one in measures:
        if lack := lacking(one.metric.needs, background):
            raise DataError(f"metric {one.name} needs {lack}")
        of_block = one.of_lists(ranked, background)
        if one.metric.kind == "collection":
            value = one.of_collection([of_block], background)
            found[one.full_name] = Averaged(value, len(background.test_users), NOBODY, np.empty(0))
        else:
            found[one.full_name] = average(one, of_block, ranked.users, ranked.strata, empty, protocol)
    return found


def rank(frames: Frames, measures: Iterable[Measure], protocol: Protocol, seed: int) -> Ranked:
    """The lists of the test users, as far down as the measures need; recommendations to others are left out."""
    judgements = frames.judged(protocol)
    users = judgements.test_users
    lengths = frames.lengths[users]
    items, scores = frames.items, frames.scores
    tested = np.zeros(len(frames.lengths), dtype=np.bool_)
    tested[users] = True
    if frames.lengths[~tested].any():
        rows = tested[frames.users]
        items, scores = items[rows], scores[rows]
    lists = GivenLists(
        users=users,
        strata=np.zeros(len(users), dtype=np.int32),
        offsets=np.concatenate([[0], np.cumsum(lengths)]),
        items=items,
        scores=scores,
        judged_offsets=np.concatenate([judgements.offsets[users], judgements.offsets[-1:]]),
        judged_items=judgements.items,
        judged_relevant=judgements.relevant,
        judged_grades=judgements.grades,
    )
    rules = RankingRules.from_protocol(protocol, frames.truth, train=frames.train, seed=seed)
    return rank_lists(lists, rules, depth=_depth(int(lengths.max(initial=1)), measures))[0]


def _depth(longest: int, measures: Iterable[Measure]) -> int:
    """How far down lists must be ranked: to the deepest cut-off, or to the end where a metric has none."""
    cutoffs = [longest if one.cutoff is None else min(one.cutoff, longest) for one in measures]
    return max(1, *cutoffs)


def _of_predictions(asked: Measure, frames: Frames, protocol: Protocol) -> Averaged:
    """A metric of the scores as predictions of the held-out ratings."""
    if not frames.has_scores or not frames.truth.explicit:
        raise DataError(
            f"{asked.name} compares scores with ratings: it needs a column 'score' in recommendations and a "
            "column 'rating' in truth"
        )
    truth = frames.truth
    wanted = truth.users.astype(np.int64) * truth.n_items + truth.items
    listed = frames.users.astype(np.int64) * truth.n_items + frames.items
    order = np.argsort(listed, kind="stable")
    listed = listed[order]
    _require_single_rows(listed, truth)
    predicted = np.full(len(truth), np.nan)
    if len(listed):
        at = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
        predicted = np.where(listed[at] == wanted, frames.scores[order[at]], np.nan)
    train = _train_ratings(frames, protocol)
    pairs = resolve_predictions(Scores(predicted), truth.ratings, truth.users, truth.items, protocol, train)
    return average_errors(asked, pairs, protocol)


def _require_single_rows(listed: npt.NDArray[np.int64], truth: Interactions) -> None:
    """``listed`` are ascending pairs of a user and an item as one number."""
    again = listed[1:][np.diff(listed) == 0]
    if len(again):
        user, item = truth.user_ids[again[0] // truth.n_items], truth.item_ids[again[0] % truth.n_items]
        raise DataError(
            f"the list of user {user} has item {item} twice; keep one of the two (rows of this kind: {len(again):,})"
        )


def _train_ratings(frames: Frames, protocol: Protocol) -> TrainRatings:
    """What the ``predict`` decisions need of the training rows."""
    for decision, values in (("predict.missing", _MEANS), ("predict.clip", ("train",))):
        if frames.train is None and protocol[decision] in values:
            raise ProtocolError(f'{decision} = "{protocol[decision]}" needs the training rows; give them as train=')
    train = frames.truth.select(np.arange(0)) if frames.train is None else frames.train
    if protocol["data.scale"] == "stated":
        return TrainRatings.of(train, (protocol.number("data.scale_min"), protocol.number("data.scale_max")))
    ratings = np.concatenate([frames.truth.ratings, train.ratings])
    return TrainRatings.of(train, (float(ratings.min()), float(ratings.max())))
