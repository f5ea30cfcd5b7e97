"""The plan of a study: prepared data, folds, and one cell for each algorithm and fold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from repro.data import Impact, Interactions, ItemFeatures, datasets, load_item_features, prepare
from repro.data.binarise import binarise_impacts, is_binarised
from repro.errors import DataError, ProtocolError, StudyError
from repro.evaluation.fold import FoldData
from repro.evaluation.metrics import Measure, lacking, simple_measures
from repro.plugin import ParameterValue
from repro.rng import stream
from repro.runs.folder import sha256
from repro.split import Fold, Split, make_folds, strategy_named
from repro.study.entry import STUDY_SEED, Entry
from repro.study.fold_data import fold_data, trial_data
from repro.study.model import Study
from repro.study.tuning.search import is_grid, require_optuna
from repro.study.tuning.settings import TuningSettings

FEATURES = "data.item_features"


@dataclass(frozen=True)
class Cell:
    """One unit of work: one algorithm on one fold."""

    entry: Entry
    fold: Fold
    seed: int

    @property
    def id(self) -> str:
        return f"{self.entry.label}/{self.fold.name}"

    def with_parameters(self, chosen: Mapping[str, ParameterValue]) -> Cell:
        """The same cell with the parameters that tuning chose."""
        return replace(self, entry=replace(self.entry, parameters={**self.entry.parameters, **chosen}))


@dataclass(frozen=True)
class Plan:
    """Everything that a study needs before anything is fitted."""

    study: Study
    source: Interactions
    interactions: Interactions
    scale: tuple[float, float]
    split: Split
    cells: tuple[Cell, ...]
    data_impacts: tuple[Impact, ...]
    files: dict[str, str]
    features: ItemFeatures | None = None


def make_plan(study: Study, *, to_fit: bool = True, without: Collection[str] = ()) -> Plan:
    """Load and prepare the data, make the folds, list the cells (by algorithm, then fold).

    Frameworks may be missing where nothing is fitted: ``to_fit=False``. The algorithms with the labels ``without`` have
    no cells.
    """
    wanted = [entry for entry in study.entries if entry.label not in without]
    protocol = study.protocol
    source = study.interactions()
    prepared, impacts = prepare(source, protocol, study.seed)
    split = make_folds(prepared, protocol, study.seed)
    interactions = split.interactions
    _require_ratings(study, split)
    if study.tune is not None:
        _require_validation(study, study.tune, split)
    if protocol["data.scale"] == "stated":
        scale = (protocol.number("data.scale_min"), protocol.number("data.scale_max"))
    else:
        scale = (float(interactions.ratings.min()), float(interactions.ratings.max()))
    for entry in wanted:
        if to_fit and entry.obstacle:
            raise StudyError(entry.obstacle)
    entries = [_bound(entry, study, source, interactions) for entry in wanted]
    cells = tuple(
        Cell(entry, fold, entry_seed(study.seed, entry, fold.name)) for entry in entries for fold in split.folds
    )
    if is_binarised(protocol, "training"):
        impacts += binarise_impacts(_training_rows(split), protocol)
    files, features = _digests(protocol.files), _item_features(study)
    if features is not None and FEATURES not in files:  # the data set has them
        files[FEATURES] = features.digest
    plan = Plan(study, source, interactions, scale, split, cells, tuple(impacts), files, features)
    _check_first_fold(plan)
    return plan


def _training_rows(split: Split) -> Interactions:
    """The training rows of all folds, one fold after the other."""
    return split.interactions.select(np.concatenate([fold.train for fold in split.folds]))


def _bound(entry: Entry, study: Study, source: Interactions, prepared: Interactions) -> Entry:
    """The entry with a model that was given in Python bound to the ids of the data."""
    if entry.given is None:
        return entry
    return replace(entry, given=entry.given.bound(source, prepared, study.text_ids(source)))


def _item_features(study: Study) -> ItemFeatures | None:
    """The features of the items, from the file or the data set that the protocol names."""
    match study.protocol[FEATURES]:
        case "none":
            return None
        case "dataset":
            if study.data_name not in datasets():
                raise StudyError(
                    f'{FEATURES} = "dataset" needs a named data set, and the data is {study.data_name}; '
                    "name a file of features instead"
                )
            return load_item_features(study.data_name)
    return load_item_features(study.protocol.path(FEATURES))


def _digests(named: Mapping[str, Mapping[str, Path]]) -> dict[str, str]:
    """The SHA-256 of the file that a decision names; of the digests of all files, if there is one for each fold."""
    try:
        digests = {
            decision: {fold: sha256(path.read_bytes()) for fold, path in files.items()}
            for decision, files in named.items()
        }
    except OSError as error:
        raise DataError(f"cannot read {error.filename}, which the protocol names: {error.strerror}") from None
    return {
        decision: of_folds.get("", sha256("\n".join(map(" ".join, of_folds.items())).encode()))
        for decision, of_folds in digests.items()
    }


def _check_first_fold(plan: Plan) -> None:
    """Plan the lists of the first fold, so that what is impossible on this data is rejected before a fit."""
    fold, study = plan.split.folds[0], plan.study
    _check_lists(study, fold_data(plan, fold), study.measures)
    if study.tune is not None:
        _check_lists(study, trial_data(plan, fold), [study.tune.measure])


def _check_lists(study: Study, data: FoldData, measures: Sequence[Measure]) -> None:
    background = data.background(data.candidates(study.protocol, study.seed).items)
    for measure in simple_measures(measures):
        if missing := lacking(measure.needs, background):
            raise StudyError(f"metric {measure.name} needs {missing}")


def _require_validation(study: Study, tuning: TuningSettings, split: Split) -> None:
    """Refuse tuning without a validation part, and a search that needs Optuna where it is not installed."""
    on_test = study.protocol["split.tuned_on"] == "test"
    if split.folds[0].validation is None and not on_test:
        strategy = study.protocol.text("split.strategy")
        decision = strategy_named(strategy).validation
        raise StudyError(
            f'[tune] needs a validation part, and split.strategy = "{strategy}" makes none here; set {decision}'
        )
    if study.protocol["candidates.base"] == "file" and not on_test:
        raise StudyError(
            '[tune] ranks candidates of the validation part, and candidates.base = "file" has those of the test part '
            "alone; use another candidates.base"
        )
    if not all(is_grid(entry.space, tuning.trials) for entry in study.entries):
        require_optuna()


def _require_ratings(study: Study, split: Split) -> None:
    """Refuse metrics and rules that compare ratings where there are none."""
    if split.interactions.explicit and split.rated:
        return
    if (clip := study.protocol["scores.clip"]) != "none" and not split.interactions.explicit:
        raise ProtocolError(f'scores.clip = "{clip}" clips scores to ratings, and this data set has none; use "none"')
    owner = "held-out rows have" if split.interactions.explicit else "this data set has"
    rule = study.protocol["relevance.rule"]
    if rule != "any":
        raise ProtocolError(f'relevance.rule = "{rule}" compares ratings, and {owner} none; use relevance.rule = "any"')
    for measure in simple_measures((*study.measures, *([study.tune.measure] if study.tune is not None else []))):
        if measure.metric.kind == "prediction" or "ratings" in measure.needs:
            values = "predictions with ratings" if measure.metric.kind == "prediction" else "ratings"
            raise ProtocolError(f"metric {measure.name} compares {values}, and {owner} none; leave it out")


def entry_seed(seed: int, entry: Entry, fold: str) -> int:
    """The seed of an algorithm on a fold: the stated one, or one drawn for it."""
    if entry.seed is None:
        return fit_seed(seed, entry.use, fold)
    return seed & 0x7FFFFFFF if entry.seed == STUDY_SEED else int(entry.seed)


def fit_seed(seed: int, use: str, fold: str) -> int:
    """The seed drawn for an algorithm on a fold: 31 bits, as every framework takes them."""
    return int(stream(seed, "fit", use, fold)) & 0x7FFFFFFF
