"""From frames that were read to the numbers of each metric asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import DataError, ProtocolError
from repro.evaluate.extra_inputs import protocol_features
from repro.evaluate.frames import Frames
from repro.evaluation.metrics import (
    Averaged,
    Background,
    ListOwners,
    Measure,
    Predictions,
    average_predictions,
    has_tie_interval,
    lacking,
    simple_measures,
)
from repro.evaluation.ranking import GivenLists, Ranked, RankingRules, Tally, given_scores, rank_lists
from repro.evaluation.stages import measure_ranked, measure_tied, need_scores, resolve, tie_interval
from repro.evaluation.suspicion import Facts, list_facts, prediction_facts
from repro.plugin import Scores
from repro.protocol import Protocol

NOBODY = np.empty(0, dtype=np.int32)
_MEANS = ("user-mean", "item-mean", "global-mean")

Asked = Mapping[str, Measure]


@dataclass(frozen=True, eq=False)
class MeasuredFrames:
    """The number of each measure, by the name it was asked for, and what was counted on the way.

    intervals  by the same name, the lowest and highest number that any order of tied items gives, where it is known
    facts      what was counted to find out what is suspicious (:mod:`repro.evaluation.suspicion`)
    """

    found: dict[str, Averaged]
    intervals: dict[str, tuple[float, float]]
    facts: Facts


def measure(frames: Frames, asked: Asked, protocol: Protocol, seed: int) -> MeasuredFrames:
    """The number of each measure, by the name it was asked for."""
    simple = simple_measures(asked.values())
    lists = [one for one in simple if one.metric.kind != "prediction"]
    found: dict[str, Averaged] = {}
    ends: dict[str, tuple[float, float]] = {}
    facts = Facts()
    if lists:
        background = _background(frames, lists, protocol, seed)
        ranked, tally = _ranked(frames, lists, protocol, seed)
        found = measure_given(ranked, lists, background, protocol)
        ends = _tie_intervals(ranked, lists, found, background, protocol)
        facts = list_facts(tally, ranked.lengths, ranked.items, ranked.scored)
    if predicted := [one for one in simple if one.metric.kind == "prediction"]:
        scores, pairs = predictions_of(predicted[0].name, frames, protocol)
        found |= {one.full_name: average_predictions(one, pairs) for one in predicted}
        facts += prediction_facts(scores)
    values = {name: (averaged.value, averaged.users_counted) for name, averaged in found.items()}
    return MeasuredFrames(
        {
            name: Averaged(*one.joined(values), NOBODY, np.empty(0)) if one.parts else found[one.full_name]
            for name, one in asked.items()
        },
        {
            name: (_joined_end(one, ends, 0), _joined_end(one, ends, 1))
            for name, one in asked.items()
            if all(part.full_name in ends for part in simple_measures([one]))
        },
        facts,
    )


def _joined_end(measure: Measure, ends: Mapping[str, tuple[float, float]], side: int) -> float:
    return measure.joined({name: (interval[side], 0) for name, interval in ends.items()})[0]


def _tie_intervals(
    ranked: Ranked,
    measures: Iterable[Measure],
    numbers: Mapping[str, Averaged],
    background: Background,
    protocol: Protocol,
) -> dict[str, tuple[float, float]]:
    """The lowest and highest number of each measure over all orders of tied items, where it is known."""
    bounded = [measure for measure in measures if has_tie_interval(measure)]
    tied, owners = measure_tied(bounded, ranked, background), ListOwners.of(ranked)
    if tied is None:
        return {measure.full_name: (numbers[measure.full_name].value,) * 2 for measure in bounded}
    return {
        measure.full_name: tie_interval(measure, measure.of_lists(ranked, background), tied, owners, protocol)
        for measure in bounded
    }


def _background(frames: Frames, lists: Sequence[Measure], protocol: Protocol, seed: int) -> Background:
    """What the measures need beside the lists; lists of earlier times are ranked by the same rules."""
    background = frames.background
    needs = {need for one in lists for need in one.needs}
    if "features" in needs and background.features is None and (stated := protocol_features(protocol)):
        background = replace(background, features=stated.of_items(frames.truth.item_ids))
    if "previous" in needs:
        compared = [one for one in lists if "previous" in one.needs]
        earlier = [rank_frames(one, compared, protocol, seed) for one in frames.previous]
        background = replace(background, previous=tuple(map(_items_by_user, earlier)))
    return background


def _items_by_user(ranked: Ranked) -> dict[int, CodeArray]:
    return {user: row[row >= 0] for user, row in zip(ranked.users.tolist(), ranked.items, strict=True)}


def measure_given(
    ranked: Ranked, measures: Sequence[Measure], background: Background, protocol: Protocol
) -> dict[str, Averaged]:
    """The number of each measure for given lists, which are ranked already, by its full name."""
    for measure in measures:
        if lack := lacking(measure.needs, background):
            raise DataError(f"metric {measure.name} needs {lack}")
    return measure_ranked(measures, ranked, ListOwners.of(ranked), background, protocol)


def rank_frames(frames: Frames, measures: Iterable[Measure], protocol: Protocol, seed: int) -> Ranked:
    """The lists of the test users, as far down as the measures need; recommendations to others are left out."""
    return _ranked(frames, measures, protocol, seed)[0]


def _ranked(frames: Frames, measures: Iterable[Measure], protocol: Protocol, seed: int) -> tuple[Ranked, Tally]:
    judgements = frames.judged(protocol)
    users = judgements.test_users
    lengths = frames.lengths[users]
    items, scores, state = frames.items, frames.scores, frames.state
    tested = np.zeros(len(frames.lengths), dtype=np.bool_)
    tested[users] = True
    if frames.lengths[~tested].any():
        rows = tested[frames.users]
        items, scores = items[rows], scores[rows]
        state = None if state is None else state[rows]
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
        state=state,
    )
    rules = RankingRules.from_protocol(
        protocol, frames.truth, train=frames.train, data_items=frames.data_items, seed=seed
    )
    asked = list(measures)
    depth = _depth(int(lengths.max(initial=1)), asked)
    cutoffs = sorted({one.cutoff for one in asked if one.cutoff is not None and one.cutoff <= depth})
    ranked, tally = rank_lists(lists, rules, depth=depth, cutoffs=cutoffs)
    if frames.has_scores and need_scores(asked):
        ranked = replace(ranked, scores=given_scores(ranked, lists, rules))
    return ranked, tally


def _depth(longest: int, measures: Iterable[Measure]) -> int:
    """How far down lists must be ranked: to the deepest cut-off, or to the end where a metric needs all of it."""
    return max(1, *(longest if one.reach is None else min(one.reach, longest) for one in measures))


def predictions_of(asked: str, frames: Frames, protocol: Protocol) -> tuple[Scores, Predictions]:
    """The scores of the held-out pairs, for the metric called ``asked`` and others, and what they count as."""
    if not frames.has_scores or not frames.truth.explicit:
        raise DataError(
            f"{asked} compares scores with ratings: it needs a column 'score' in recommendations and a "
            "column 'rating' in truth"
        )
    truth = frames.truth
    wanted = truth.users.astype(np.int64) * truth.n_items + truth.items
    listed = frames.users.astype(np.int64) * truth.n_items + frames.items
    order = np.argsort(listed, kind="stable")
    listed = listed[order]
    _require_single_rows(listed, truth)
    predicted = Scores(np.full(len(truth), np.nan))
    if len(listed):
        at = np.minimum(np.searchsorted(listed, wanted), len(listed) - 1)
        values = np.where(listed[at] == wanted, frames.scores[order[at]], np.nan)
        predicted = Scores(values, None if frames.state is None else frames.state[order[at]])
    train, scale = _train_ratings(frames, protocol)
    return predicted, resolve(predicted, truth, train, scale, protocol)


def _require_single_rows(listed: npt.NDArray[np.int64], truth: Interactions) -> None:
    """``listed`` are ascending pairs of a user and an item as one number."""
    again = listed[1:][np.diff(listed) == 0]
    if len(again):
        user, item = truth.user_ids[again[0] // truth.n_items], truth.item_ids[again[0] % truth.n_items]
        raise DataError(
            f"the list of user {user} has item {item} twice; keep one of the two (rows of this kind: {len(again):,})"
        )


def _train_ratings(frames: Frames, protocol: Protocol) -> tuple[Interactions, tuple[float, float]]:
    """The training rows that the ``predict`` decisions need, and the rating scale."""
    for decision, values in (("predict.missing", _MEANS), ("predict.clip", ("train",))):
        if frames.train is None and protocol[decision] in values:
            raise ProtocolError(f'{decision} = "{protocol[decision]}" needs the training rows; give them as train=')
    train = frames.truth.select(np.arange(0)) if frames.train is None else frames.train
    if protocol["data.scale"] == "stated":
        return train, (protocol.number("data.scale_min"), protocol.number("data.scale_max"))
    ratings = np.concatenate([frames.truth.ratings, train.ratings])
    return train, (float(ratings.min()), float(ratings.max()))
