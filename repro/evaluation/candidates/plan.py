"""Choose the candidates of a fold by the decisions of a protocol."""

from __future__ import annotations

import numpy as np

from repro.data.interactions import Interactions
from repro.evaluation.candidates.candidates import Candidates, FoldRows, UserTestItems
from repro.evaluation.candidates.file_candidates import FileCandidates
from repro.evaluation.candidates.negatives_file import read_negatives
from repro.evaluation.candidates.open_sets import OpenCandidates, SampledCandidates
from repro.evaluation.candidates.relevance import Judgements, judge
from repro.protocol import Protocol


def plan_candidates(rows: FoldRows, protocol: Protocol, seed: int, judgements: Judgements | None = None) -> Candidates:
    """The candidates of a fold by the ``candidates`` decisions of the protocol.

    ``judgements`` are those of the test part, if they are already computed.
    """
    judged = judge(rows.train, rows.test, protocol) if judgements is None else judgements
    match protocol["candidates.base"]:
        case "user-test-items":
            return UserTestItems(judged, protocol)
        case "file":
            negatives = read_negatives(protocol.path("candidates.file", rows.fold), rows.train, rows.test)
            return FileCandidates(negatives, rows, judged, protocol)
    if protocol["candidates.negatives"] == "all":
        return OpenCandidates(rows, judged, protocol)
    return SampledCandidates(rows, judged, protocol, seed)


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
