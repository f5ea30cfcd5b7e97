"""Choose the candidates of a fold by the decisions of a protocol."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import CodeArray, Interactions
from repro.evaluation.candidates.candidates import Candidates
from repro.evaluation.candidates.file_candidates import FileCandidates
from repro.evaluation.candidates.negatives_file import read_negatives
from repro.evaluation.candidates.open_sets import OpenCandidates, SampledCandidates
from repro.evaluation.candidates.relevance import Judgements, judge
from repro.evaluation.candidates.user_test import UserTestItems
from repro.protocol import Protocol


def plan_candidates(
    train: Interactions,
    test: Interactions,
    protocol: Protocol,
    seed: int,
    *,
    judgements: Judgements | None = None,
    removed_items: CodeArray | None = None,
    validation: Interactions | None = None,
    all_interactions: Interactions | None = None,
) -> Candidates:
    """The candidates of a fold by the ``candidates`` decisions of the protocol.

    judgements        the judgements of the test part; by default they are computed
    removed_items     codes of the head items that are removed from every base set (``split.head``)
    validation        the validation part of the fold, if it has one
    all_interactions  the whole data set, for popularity by all rows; by default the training and test part together
    """
    judged = judge(train, test, protocol) if judgements is None else judgements
    removed = np.empty(0, dtype=np.int32) if removed_items is None else np.asarray(removed_items, dtype=np.int32)
    match protocol["candidates.base"]:
        case "user-test-items":
            return UserTestItems(judged, protocol)
        case "file":
            negatives = read_negatives(protocol.path("candidates.file"), train, test)
            return FileCandidates(negatives, train, judged, protocol, removed)
    if protocol["candidates.negatives"] == "all":
        return OpenCandidates(train, test, judged, protocol, removed, validation)
    all_rows = joined_rows(train, test) if all_interactions is None else all_interactions
    return SampledCandidates(train, test, judged, protocol, removed, validation, all_rows, seed)


def joined_rows(train: Interactions, test: Interactions) -> Interactions:
    """The rows of both parts together, without times."""
    return Interactions(
        np.concatenate([train.users, test.users]),
        np.concatenate([train.items, test.items]),
        np.concatenate([train.ratings, test.ratings]),
        None,
        train.user_ids,
        train.item_ids,
        train.explicit,
    )
