"""From frames to the numbers of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, Interactions
from repro.errors import DataError, ProtocolError
from repro.evaluation.candidates.ragged import offsets_of
from repro.evaluation.measured import joined_interval
from repro.evaluation.metrics import (
    Averaged,
    Background,
    ListOwners,
    Measure,
    Predictions,
    average_predictions,
    lacking,
    simple_measures,
)
from repro.evaluation.metrics.averaging import NO_USERS
from repro.evaluation.ranking import GivenLists, Ranked, RankingRules, Tally, given_scores, rank_lists
from repro.evaluation.stages import (
    Interval,
    average_lists,
    measure_tied,
    measure_values,
    need_scores,
    resolve,
    tie_intervals,
)
from repro.evaluation.suspicion import Facts, list_facts, prediction_facts
from repro.lists.evaluation import Evaluation
from repro.lists.frames import Frames
from repro.lists.inputs import protocol_features
from repro.plugin import Scores
from repro.protocol import Protocol

_MEANS = ("user-mean", "item-mean", "global-mean")


def measure(frames: Frames, requested: Mapping[str, Measure], protocol: Protocol, seed: int) -> Evaluation:
    """The number of each measure, by the name by which it is requested."""
    simple = simple_measures(requested.values())
    of_lists = [measure for measure in simple if measure.metric.kind != "prediction"]
    of_predictions = [measure for measure in simple if measure.metric.kind == "prediction"]
    numbers: dict[str, Averaged] = {}
    intervals: dict[str, Interval] = {}
    facts = Facts()
    if of_lists:
        background = _background(frames, of_lists, protocol, seed)
        ranked, tally = _ranked(frames, of_lists, protocol, seed)
        numbers, intervals = _numbers_and_intervals(ranked, of_lists, background, protocol)
        facts = list_facts(tally, ranked.lengths, ranked.items, ranked.scored)
    if of_predictions:
        scores, pairs = predictions_of(of_predictions[0].name, frames, protocol)
        numbers |= {measure.full_name: average_predictions(measure, pairs) for measure in of_predictions}
        facts += prediction_facts(scores)
    values = {name: (averaged.value, averaged.users_counted) for name, averaged in numbers.items()}
    joined = {
        name: Averaged(*measure.joined(values), NO_USERS, np.empty(0)) if measure.parts else numbers[measure.full_name]
        for name, measure in requested.items()
    }
    ends = {name: joined_interval(measure, intervals) for name, measure in requested.items()}
    known = {name: interval for name, interval in ends.items() if interval is not None}
    return Evaluation(protocol, requested, joined, known, facts, frames.truth.user_ids)


def measure_given(
    ranked: Ranked, measures: Sequence[Measure], background: Background, protocol: Protocol
) -> dict[str, Averaged]:
    """The number of each measure for ranked lists, by its full name."""
    return _numbers_and_intervals(ranked, measures, background, protocol)[0]


def _numbers_and_intervals(
    ranked: Ranked, measures: Sequence[Measure], background: Background, protocol: Protocol
) -> tuple[dict[str, Averaged], dict[str, Interval]]:
    for measure in measures:
        if lack := lacking(measure.needs, background):
            raise DataError(f"metric {measure.name} needs {lack}")
    owners, values = ListOwners.of(ranked), measure_values(measures, ranked, background)
    numbers = {m.full_name: average_lists(m, [values[m.full_name]], owners, background, protocol) for m in measures}
    averages = {name: averaged.value for name, averaged in numbers.items()}
    tied = measure_tied(measures, ranked, background)
    return numbers, tie_intervals(measures, values, averages, tied, owners, protocol)


def _background(frames: Frames, lists: Sequence[Measure], protocol: Protocol, seed: int) -> Background:
    """The inputs that the measures need besides the lists; lists of earlier times are ranked by the same rules."""
    background = frames.background
    needs = {need for measure in lists for need in measure.needs}
    if "features" in needs and background.features is None and (stated := protocol_features(protocol)):
        background = replace(background, features=stated.of_items(frames.truth.item_ids))
    if "previous" in needs:
        compared = [measure for measure in lists if "previous" in measure.needs]
        earlier = [rank_frames(previous, compared, protocol, seed) for previous in frames.previous]
        background = replace(background, previous=tuple(map(_items_by_user, earlier)))
    return background


def _items_by_user(ranked: Ranked) -> dict[int, CodeArray]:
    return {user: row[row >= 0] for user, row in zip(ranked.users.tolist(), ranked.items, strict=True)}


def rank_frames(frames: Frames, measures: Sequence[Measure], protocol: Protocol, seed: int) -> Ranked:
    """The lists of the test users, as far down as the measures need; lists of other users are left out."""
    return _ranked(frames, measures, protocol, seed)[0]


def _ranked(frames: Frames, measures: Sequence[Measure], protocol: Protocol, seed: int) -> tuple[Ranked, Tally]:
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
        offsets=offsets_of(lengths),
        items=items,
        scores=scores,
        judged_offsets=np.concatenate([judgements.offsets[users], judgements.offsets[-1:]]),
        judged_items=judgements.items,
        judged_relevant=judgements.relevant,
        judged_grades=judgements.grades,
        state=state,
    )
    rules = RankingRules.from_protocol(
        protocol,
        frames.truth,
        train=frames.train,
        data_items=frames.data_items,
        seed=seed,
        scale=_clipping_scale(frames, protocol),
    )
    depth = _depth(int(lengths.max(initial=1)), measures)
    cutoffs = sorted({measure.cutoff for measure in measures if measure.cutoff and measure.cutoff <= depth})
    ranked, tally = rank_lists(lists, rules, depth=depth, cutoffs=cutoffs)
    if frames.has_scores and need_scores(measures):
        ranked = replace(ranked, scores=given_scores(ranked, lists, rules))
    return ranked, tally


def _depth(longest: int, measures: Iterable[Measure]) -> int:
    """The rank down to which lists are needed by all measures, at most ``longest``, the length of the longest list."""
    return max(1, *(min(measure.reach or longest, longest) for measure in measures))


def predictions_of(metric: str, frames: Frames, protocol: Protocol) -> tuple[Scores, Predictions]:
    """The scores of the held-out pairs, and what they count as; ``metric`` is the name of a metric that needs them."""
    if not frames.has_scores or not frames.truth.explicit:
        raise DataError(
            f"{metric} compares scores with ratings: it needs a column 'score' in recommendations and a "
            "column 'rating' in truth"
        )
    truth = frames.truth
    held_out = truth.users.astype(np.int64) * truth.n_items + truth.items
    listed = frames.users.astype(np.int64) * truth.n_items + frames.items
    order = np.argsort(listed, kind="stable")
    listed = listed[order]
    _require_single_rows(listed, truth)
    predicted = Scores(np.full(len(truth), np.nan))
    if len(listed):
        at = np.minimum(np.searchsorted(listed, held_out), len(listed) - 1)
        values = np.where(listed[at] == held_out, frames.scores[order[at]], np.nan)
        predicted = Scores(values, None if frames.state is None else frames.state[order[at]])
    train, scale = _train_ratings(frames, protocol)
    return predicted, resolve(predicted, truth, train, scale, protocol)


def _require_single_rows(listed: npt.NDArray[np.int64], truth: Interactions) -> None:
    """``listed`` are ascending pairs of a user and an item as one number."""
    repeated = listed[1:][np.diff(listed) == 0]
    if len(repeated):
        user, item = truth.user_ids[repeated[0] // truth.n_items], truth.item_ids[repeated[0] % truth.n_items]
        raise DataError(
            f"the list of user {user} has item {item} twice; keep one of the two (rows of this kind: {len(repeated):,})"
        )


def _clipping_scale(frames: Frames, protocol: Protocol) -> tuple[float, float] | None:
    """The rating scale, to which scores may be clipped; None where there are no ratings. Ranks cannot be clipped."""
    if protocol["scores.clip"] != "none" and not frames.has_scores:
        raise DataError(
            f'scores.clip = "{protocol["scores.clip"]}" clips scores, and the recommendations have ranks alone; give a '
            'column "score", or leave scores.clip at "none"'
        )
    return _scale(frames, protocol) if frames.truth.explicit or protocol["data.scale"] == "stated" else None


def _train_ratings(frames: Frames, protocol: Protocol) -> tuple[Interactions, tuple[float, float]]:
    """The training rows that the ``predict`` decisions need, and the rating scale."""
    for decision, values in (("predict.missing", _MEANS), ("predict.clip", ("train",))):
        if frames.train is None and protocol[decision] in values:
            raise ProtocolError(f'{decision} = "{protocol[decision]}" needs the training rows; give them as train=')
    train = frames.truth.select(np.arange(0)) if frames.train is None else frames.train
    return train, _scale(frames, protocol)


def _scale(frames: Frames, protocol: Protocol) -> tuple[float, float]:
    """The rating scale: as stated, or of all ratings that are given."""
    if protocol["data.scale"] == "stated":
        return protocol.number("data.scale_min"), protocol.number("data.scale_max")
    train = () if frames.train is None else frames.train.ratings
    ratings = np.concatenate([frames.truth.ratings, train])
    return float(ratings.min()), float(ratings.max())
