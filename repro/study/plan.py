"""From a study to its cells: data prepared, folds made, one cell for each algorithm and fold."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from repro.candidates import plan_candidates
from repro.data import Impact, Interactions, prepare
from repro.errors import DataError, ProtocolError
from repro.split import Fold, Split, make_folds
from repro.streams import stream
from repro.study.folder import sha256
from repro.study.model import Entry, Study


@dataclass(frozen=True)
class Cell:
    """One unit of work: one algorithm on one fold."""

    entry: Entry
    fold: Fold
    seed: int

    @property
    def id(self) -> str:
        return f"{self.entry.label}/{self.fold.name}"


@dataclass(frozen=True)
class Plan:
    """All that a study needs before anything is fitted."""

    study: Study
    source: Interactions
    interactions: Interactions
    scale: tuple[float, float]
    split: Split
    cells: tuple[Cell, ...]
    data_impacts: tuple[Impact, ...]
    files: dict[str, str]


def make_plan(study: Study) -> Plan:
    """Load and prepare the data, make the folds, list the cells (by algorithm, then fold)."""
    protocol = study.protocol
    source = study.interactions()
    prepared, impacts = prepare(source, protocol, study.seed)
    split = make_folds(prepared, protocol, study.seed)
    interactions = split.interactions
    _require_ratings(study, interactions)
    if protocol["data.scale"] == "stated":
        scale = (protocol.number("data.scale_min"), protocol.number("data.scale_max"))
    else:
        scale = (float(interactions.ratings.min()), float(interactions.ratings.max()))
    cells = tuple(
        Cell(entry, fold, fit_seed(study.seed, entry.use, fold.name)) for entry in study.entries for fold in split.folds
    )
    plan = Plan(study, source, interactions, scale, split, cells, tuple(impacts), _digests(protocol.files))
    _check_candidates(plan)
    return plan


def _digests(files: dict[str, Path]) -> dict[str, str]:
    """The SHA-256 of each file that a decision names."""
    try:
        return {decision: sha256(path.read_bytes()) for decision, path in files.items()}
    except OSError as error:
        raise DataError(f"cannot read {error.filename}, which the protocol names: {error.strerror}") from None


def _check_candidates(plan: Plan) -> None:
    """Plan the lists of the first fold once: a protocol that cannot be had on this data is told before a fit."""
    fold = plan.split.folds[0]
    train, test = plan.interactions.select(fold.train), plan.interactions.select(fold.test)
    plan_candidates(
        train,
        test,
        plan.study.protocol,
        plan.study.seed,
        removed_items=plan.split.removed_items,
        all_interactions=plan.interactions,
    )


def _require_ratings(study: Study, interactions: Interactions) -> None:
    """Refuse what compares ratings where there are none, before anything is fitted."""
    if interactions.explicit:
        return
    rule = study.protocol["relevance.rule"]
    if rule != "any":
        raise ProtocolError(
            f'relevance.rule = "{rule}" compares ratings, and this data set has none; use relevance.rule = "any"'
        )
    for measure in study.measures:
        if measure.metric.kind == "prediction":
            raise ProtocolError(
                f"metric {measure.name} compares predictions with ratings, and this data set has none; leave it out"
            )


def fit_seed(seed: int, use: str, fold: str) -> int:
    """The seed given to an algorithm on a fold: 31 bits, as every framework takes them."""
    return int(stream(seed, "fit", use, fold)) & 0x7FFFFFFF
