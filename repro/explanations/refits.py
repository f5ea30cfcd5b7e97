"""Runs with the data or the split of another protocol, fitted when an explanation needs them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repro.errors import ReproError, StudyError
from repro.explanations.scored_run import ScoredRun
from repro.protocol import BEFORE_FITTING, Protocol, registry, resolve
from repro.study import RunOptions, Study, run_study
from repro.types import Progress


class Refits:
    """Runs with the data and the split of other protocols; each is fitted once, at first use."""

    def __init__(
        self, run: ScoredRun, other: ScoredRun | Protocol, scratch: Path, workers: int, progress: Progress | None
    ) -> None:
        self._studies = (run.study, run.study if isinstance(other, Protocol) else other.study)
        self.others_differ = isinstance(other, ScoredRun) and (
            _studies_differ(run, other)
            or (fit_key(run.protocol) == fit_key(other.protocol) and fits_differ(run, other, shared_labels(run, other)))
        )
        self._scratch, self._workers, self._progress = scratch, workers, progress
        self._made: dict[tuple[bool, tuple[object, ...]], ScoredRun] = {(False, fit_key(run.protocol)): run}
        if isinstance(other, ScoredRun):
            self._made.setdefault((self.others_differ, fit_key(other.protocol)), other)

    def run(self, protocol: Protocol, *, of_second: bool) -> ScoredRun:
        """The run of the first or of the second study, with the data and the split of ``protocol``."""
        key = (of_second, fit_key(protocol))
        if key not in self._made:
            study: Study = self._studies[of_second].with_protocol(
                evaluated_as(protocol, self._studies[of_second].protocol)
            )
            folder = self._scratch / f"fit-{len(self._made)}"
            try:
                run_study(study, folder, RunOptions(keep_scores=True, workers=self._workers))
            except ReproError as error:
                raise StudyError(f"an intermediate model could not be fitted: {error}") from None
            self._made[key] = ScoredRun.open(folder, study.data)
            if self._progress:
                self._progress("fits", len(self._made), len(self._made))
        return self._made[key]


def fit_key(protocol: Protocol) -> tuple[object, ...]:
    """The decisions that fitted models depend on: protocols with the same key share a fit."""
    return tuple(protocol.of_stages(*BEFORE_FITTING).items())


def evaluated_as(fitted: Protocol, evaluated: Protocol) -> Protocol:
    """The protocol ``evaluated`` with the data and the split of ``fitted``."""
    decisions = registry()
    values = {key: value for key, value in evaluated.items() if not decisions[key].needs_refit}
    values |= {key: value for key, value in fitted.items() if decisions[key].needs_refit}
    resolved = resolve(values, {**fitted.origins, **evaluated.origins}, strict=frozenset())
    stated_by = {key: fitted if decisions[key].needs_refit else evaluated for key in resolved.files}
    folders = {key: protocol.folders.get(key, protocol.folder) for key, protocol in stated_by.items()}
    return Protocol(resolved.values_, resolved.origins, evaluated.name, folders=folders)


def fits_differ(first: ScoredRun, second: ScoredRun, labels: Sequence[str]) -> bool:
    """Whether the test rows, the seed, or the scores of any algorithm differ."""
    if (
        _fold_digests(first) != _fold_digests(second)
        or first.study.seed != second.study.seed
        or first.scale != second.scale
    ):
        return True
    return not all(first.same_fit(label, second) for label in labels)


def _fold_digests(run: ScoredRun) -> list[tuple[str | None, ...]]:
    folds = run.run.journal.events("fold.made")
    return [(fold.fold, fold.train_digest, fold.validation_digest, fold.test_digest) for fold in folds]


def _studies_differ(first: ScoredRun, second: ScoredRun) -> bool:
    """Whether data, seed, algorithms or tuning differ."""

    def described(run: ScoredRun) -> object:
        study = run.study.describe()
        return [study.get(key) for key in ("seed", "algorithms", "tune")], run.plan.source.digest

    return described(first) != described(second)


def shared_labels(run: ScoredRun, other: ScoredRun | Protocol, chosen: Sequence[str] | None = None) -> tuple[str, ...]:
    """The algorithms of both runs, or those of them that are chosen."""
    shared = [label for label in run.chosen(chosen) if isinstance(other, Protocol) or label in other.algorithms]
    if not shared:
        raise StudyError("the two runs have no algorithm in common (algorithms are compared by their labels)")
    return tuple(shared)
