"""Warnings about inputs that can be measured but are probably wrong, such as ids in two spellings."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from repro.data.interactions import CodeArray, IdArray
from repro.errors import ReproWarning
from repro.evaluation.suspicion import Finding
from repro.lists.frames import Frames
from repro.protocol import Protocol

# Why ids of two tables may differ, and a function that makes them equal; tried in this order.
_NORMALISED: dict[str, Callable[[str], str]] = {
    "they are bytes there: decode them": lambda text: re.sub(r"""^b(['"])(.*)\1$""", r"\2", text),
    "they have decimals there: write whole numbers": lambda text: re.sub(r"\.0+$", "", text),
    "zeros in front are lost in one of them: read ids as text": lambda text: re.sub(r"^0+(?=\d)", "", text),
    "they differ in spaces or capitals": lambda text: text.strip().casefold(),
}
_FEW = 1000


def mismatches(frames: Frames, protocol: Protocol, label: str) -> Iterator[str]:
    """Sentences about what is probably wrong with the recommendations called ``label``, such as the form of ids."""
    truth = frames.truth
    if not len(frames.users):
        yield f"{label} has no rows, so all lists are empty"
        return
    if frames.has_scores and np.isnan(frames.scores[:_FEW]).all() and np.isnan(frames.scores).all():
        yield (
            f"{label} has no score that is a number, so no list has an order of its own; "
            f'missing.rank = "{protocol["missing.rank"]}" and ties.break = "{protocol["ties.break"]}" decide'
        )
    tested = _occurring(truth.users, truth.n_users)
    if not frames.lengths[tested].any():
        written = _written(frames.users, truth.users, truth.user_ids)
        yield f"no user of {label} is in the truth, so all lists are empty; users {written}"
        return
    held_out = _occurring(truth.items, truth.n_items)
    if not held_out[frames.items[:_FEW]].any() and not held_out[frames.items].any():
        written = _written(frames.items, truth.items, truth.item_ids)
        yield f"no item of {label} is in the truth, so no list has a hit; items {written}"
    else:
        yield from _partly_otherwise(frames, label)
    without = int((frames.lengths[tested] == 0).sum())
    if without:
        yield (
            f"{without:,} of {int(tested.sum()):,} users in the truth have no list in {label}; average.no_list = "
            f'"{protocol["average.no_list"]}" says what they count'
        )


def _partly_otherwise(frames: Frames, label: str) -> Iterator[str]:
    """A sentence where some ids of both tables, which seem to be different, differ in the way they are written only."""
    truth = frames.truth
    for role, listed, held_out, ids in (
        ("user", frames.users, truth.users, truth.user_ids),
        ("item", frames.items, truth.items, truth.item_ids),
    ):
        if ids.dtype != object:
            continue
        there, here = _occurring(listed, len(ids)), _occurring(held_out, len(ids))
        alone, lacking = (ids[np.flatnonzero(codes)[:_FEW]] for codes in (there & ~here, here & ~there))
        for why, normalise in _NORMALISED.items():
            written = {normalise(str(id_)): id_ for id_ in alone}
            for id_ in lacking:
                if (other := written.get(normalise(str(id_)))) is not None:
                    yield f"{role} '{id_}' of the truth is written '{other}' in {label} ({why}); they do not match"
                    return


def _occurring(codes: CodeArray, count: int) -> npt.NDArray[np.bool_]:
    """Whether each code is in a column."""
    occur = np.zeros(count, dtype=np.bool_)
    occur[codes] = True
    return occur


def mismatch_findings(frames: Frames, protocol: Protocol, label: str) -> list[Finding]:
    """The same as findings (:mod:`repro.evaluation.suspicion`)."""
    return [Finding("inputs.mismatch", "warning", label, text) for text in mismatches(frames, protocol, label)]


def warn_of_mismatches(frames: Frames, protocol: Protocol) -> list[Finding]:
    """The same as findings and as Python warnings; for functions that people call themselves."""
    findings = mismatch_findings(frames, protocol, "recommendations")
    for finding in findings:
        warnings.warn(finding.sentence, ReproWarning, stacklevel=3)
    return findings


def _written(listed: CodeArray, tested: CodeArray, ids: IdArray) -> str:
    """An example id of each table, and a likely reason why they differ."""
    listed_ids, test_ids = (ids[np.unique(codes)[:_FEW]] for codes in (listed, tested))
    shown = f"are written like '{ids[listed[0]]}' there and like '{ids[tested[0]]}' in the truth"
    for why, normalise in _NORMALISED.items():
        if {normalise(str(id_)) for id_ in listed_ids} & {normalise(str(id_)) for id_ in test_ids}:
            return f"{shown} ({why})"
    return shown
