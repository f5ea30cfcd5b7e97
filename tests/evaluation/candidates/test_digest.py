"""The digest of candidates: of the lists, not of the blocks."""

import pytest

from repro.data import synthetic_interactions
from repro.evaluation.candidates import CandidatesDigest, FoldRows, plan_candidates
from repro.protocol import Protocol
from repro.split import make_folds

DATA = synthetic_interactions(users=40, items=60, ratings=900, alpha=1.0, seed=1)


def digest(name, sizes, seed=1, **changes):
    protocol = Protocol.load(name, **changes)
    fold = make_folds(DATA, protocol, 1).folds[0]
    candidates = plan_candidates(FoldRows(DATA, DATA.select(fold.train), DATA.select(fold.test)), protocol, seed)
    hashed, start = CandidatesDigest(), 0
    while start < len(candidates.users):
        hashed.add(candidates.block(candidates.users[start : start + sizes]))
        start += sizes
    return hashed.hexdigest()


@pytest.mark.parametrize("name", ["bellogin-ai-an", "said-bellogin-rpn", "said-bellogin-ut"])
def test_blocks_leave_no_trace(name):
    changes = {"candidates__sample_size": 10} if name == "said-bellogin-rpn" else {}
    assert len({digest(name, size, **changes) for size in (1, 7, 100)}) == 1


def test_other_candidates_have_another_digest():
    rpn = [digest("said-bellogin-rpn", 100, seed, candidates__sample_size=10) for seed in (1, 2)]
    assert len({*rpn, digest("bellogin-ai-an", 100), digest("bellogin-ti-an", 100)}) == 4
    assert digest("bellogin-ai-an", 100) != digest("bellogin-ai-an", 100, candidates__exclude_train="none")
