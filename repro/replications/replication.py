"""Replicate a claim: run it, and judge each of its numbers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from repro.progress import Shown, progress_reporter
from repro.replications.claim_runs import Options, Runs, versions_of
from repro.replications.claims.claim import FILE, Claim
from repro.replications.settings.watch import SearchStopped, SearchWatch
from repro.replications.verdicts.cells import CellVerdicts
from repro.replications.verdicts.examples import WorkedExamples
from repro.replications.verdicts.facts import judge_facts, judge_times, unavailable
from repro.replications.verdicts.files import write_replication
from repro.replications.verdicts.judgement import Judgement, Replication, not_run
from repro.replications.verdicts.means import judge_means
from repro.replications.verdicts.patterns import judge_patterns
from repro.replications.verdicts.searched import Budget, CellSearch
from repro.study.progress import watching
from repro.types import Progress


def replicate(
    claim: Claim | str | Path,
    *,
    seeds: int | None = None,
    newer: bool = False,
    options: Options | None = None,
    budget: Budget | None = None,
    progress: Shown = True,
) -> Replication:
    """Run the studies of a claim, judge its numbers, and write verdicts and a journal next to the claim.

    The verdicts by the claim's own setting are written first; the search for what explains the other numbers follows.
    If the search is interrupted, or its time is up, these verdicts stand, with what it has found by then. Called again,
    it goes on: nothing is fitted twice.

    claim     the claim, or its file
    seeds     how many seeds to run: those of the claim, and further ones if it has fewer
    newer     where the claim pins versions of frameworks, also run the installed ones
    options   how to execute the runs, such as ``Options(workers=4)`` (:class:`repro.replications.Options`)
    budget    limits of the search for what explains numbers that differ (:class:`repro.replications.Budget`)
    progress  whether to show the progress, or a function that receives it (:mod:`repro.progress`)

    Returns a :class:`repro.replications.Replication`, with a judgement of each number.

    >>> repro.replicate("claim.toml").summary
    '1 exact'
    """
    loaded = claim if isinstance(claim, Claim) else Claim.load(claim)
    with progress_reporter(progress) as report_progress:
        run_options = options or Options()
        run_options = replace(run_options, watcher=run_options.watcher or watching(report_progress))
        return _replicated(loaded, seeds, newer, run_options, budget or Budget(), report_progress)


def _replicated(
    loaded: Claim, seeds: int | None, newer: bool, run_options: Options, limits: Budget, progress: Progress
) -> Replication:
    reasons = {part.part: unavailable(part) for part in loaded.parts()}
    parts = [part for part in loaded.parts() if not reasons[part.part]]
    judged = {part.part: _Judged(part, run_options, seeds_of(part, seeds)) for part in parts}

    def together() -> Replication:
        """The verdicts on all data sets."""
        of_parts = {name: of_data.replication() for name, of_data in judged.items()}
        of_parts |= {part.part: _not_run(part, reasons[part.part]) for part in loaded.parts() if reasons[part.part]}
        return replace(_joined([of_parts[part.part] for part in loaded.parts()]), claim=loaded)

    main_run = next((of_data.runs.main_run() for of_data in judged.values()), None) if len(reasons) == 1 else None
    replication = together()
    if (searched := [of_data for of_data in judged.values() if of_data.searchable]) and not limits.off:
        own = write_replication(loaded, replication, main_run)
        if run_options.own:
            run_options.own(own)
        began = time.monotonic()
        for of_data in searched:
            left = None if limits.seconds is None else max(limits.seconds - (time.monotonic() - began), 0.0)
            if not of_data.search(replace(limits, seconds=left), progress):
                break
        replication = together()
    if newer and loaded.frameworks and not run_options.installed:
        replication = _with_newer(loaded, replication, run_options)
    return write_replication(loaded, replication, main_run)


def _joined(parts: Sequence[Replication]) -> Replication:
    """One replication of the parts of a claim about several data sets."""
    if len(parts) == 1:
        return parts[0]
    return replace(
        parts[0],
        judgements=tuple(judgement for part in parts for judgement in part.judgements),
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        versions={name: version for part in parts for name, version in part.versions.items()},
        searches=tuple(search for part in parts for search in part.searches),
        causes=tuple(cause for part in parts for cause in part.causes),
    )


def seeds_of(claim: Claim, number: int | None) -> tuple[int, ...]:
    """The first seeds of the claim, followed by the next whole numbers if it has fewer."""
    if number is None:
        return claim.seeds
    seeds = list(claim.seeds[:number])
    following = max(seeds) + 1
    return (*seeds, *range(following, following + number - len(seeds)))


def claims_below(folder: Path) -> list[Path]:
    """The claim files in a folder and its subfolders, by name, without those inside run folders."""
    return sorted(path for path in folder.rglob(FILE) if "run" not in path.relative_to(folder).parts)


class _Judged:
    """The verdicts on a claim: by its own setting at first, and after a search."""

    def __init__(self, claim: Claim, options: Options, seeds: Sequence[int]) -> None:
        self.claim, self.options = claim, options
        self.runs = Runs(claim, options, seeds)
        known = options.known
        self._known = (lambda judgement: known(self._named(judgement))) if known else None
        self._cells = CellVerdicts(self.runs, self._known)
        self._cells.judge()
        self._examples = examples = WorkedExamples(claim) if claim.examples else None
        self._others = [*judge_means(self.runs), *(examples.judge() if examples else []), *judge_facts(claim)]
        self._others += [*judge_times(self.runs), *judge_patterns(self.runs, examples)]
        if self._known:
            for judgement in self._others:
                self._known(judgement)
        self._search: CellSearch | None = None
        self._notes: list[str] = []

    def _named(self, judgement: Judgement) -> Judgement:
        """The judgement with the name of the data set, in a claim about several."""
        return replace(judgement, data=self.claim.part)

    @property
    def searchable(self) -> bool:
        """Whether there are numbers that the claim's own setting does not give."""
        return any(judgement.verdict == "differs" for judgement in self._cells.by_digits.values())

    def search(self, budget: Budget, progress: Progress | None) -> bool:
        """Search for what explains these numbers; returns whether the search came to its end.

        An interruption ends the search, and keeps what it has found.
        """
        watch = SearchWatch(progress, self.options.say, self.options.watcher, budget.seconds)
        self.runs.options = replace(self.options, watcher=watch)
        self._search = CellSearch(self._cells, budget, watch)
        try:
            self._search.run()
        except KeyboardInterrupt as stop:
            why = "ended when its time was up" if isinstance(stop, SearchStopped) else "was interrupted"
            self._notes.append(
                f"The search {why}: the verdicts are those of the claim's own setting and of what was tried "
                "until then. Replicate again to go on; what is fitted is kept."
            )
            return False
        return True

    def replication(self) -> Replication:
        """All verdicts that are known."""
        own_run = self.runs.main_run()
        notes = [*(self._search.notes if self._search else []), *self._notes]
        if self.options.installed and self.claim.frameworks:
            notes.append("Frameworks ran in the installed versions, not in those that the claim pins.")
        return Replication(
            name=self.claim.name,
            title=self.claim.title,
            source=self.claim.source,
            judgements=tuple(map(self._named, (*self._cells.in_order(), *self._others))),
            notes=tuple(notes),
            versions={} if own_run is None else versions_of(own_run),
            searches=tuple(self._search.searches if self._search else ()),
            causes=(
                *(self._search.causes if self._search else ()),
                *(self._examples.causes if self._examples else ()),
            ),
            claim=self.claim,
        )


def _with_newer(claim: Claim, pinned: Replication, options: Options) -> Replication:
    """The replication, with the values that the installed versions give where they differ."""
    installed, seeds = replace(options, installed=True, known=None), claim.seeds[:1]
    newer = _joined(
        [
            _not_run(part, reason) if (reason := unavailable(part)) else _Judged(part, installed, seeds).replication()
            for part in claim.parts()
        ]
    )
    versions = newer.versions
    both = {name: (pinned.versions.get(name, ""), versions[name]) for name in claim.frameworks if name in versions}
    if all(old == new for old, new in both.values()):
        return replace(pinned, notes=(*pinned.notes, "The installed versions are those of the claim."))
    judgements = tuple(
        _with_newer_value(old, new) for old, new in zip(pinned.judgements, newer.judgements, strict=True)
    )
    changed = sum(judgement.newer is not None for judgement in judgements)
    replaced = ", ".join(f"{name} {new} in place of {old}" for name, (old, new) in both.items())
    several = "another number" if changed == 1 else "other numbers"
    note = f"With the installed versions, {replaced}, {changed} of {len(judgements)} are {several}."
    return replace(pinned, notes=(*pinned.notes, note), judgements=judgements)


def _with_newer_value(pinned: Judgement, newer: Judgement) -> Judgement:
    """The judgement with the number of newer versions, if it is printed differently."""
    if pinned.printed is None or newer.value != newer.value:
        return pinned
    same = pinned.printed.shown(pinned.value) == pinned.printed.shown(newer.value)
    return pinned if same else replace(pinned, newer=newer.value)


def _not_run(claim: Claim, reason: str) -> Replication:
    """The replication of a claim whose data is not available; worked examples are judged nevertheless."""
    data = claim.data.name if claim.data else ""
    cells = [not_run(cell, reason) for cell in claim.cells if cell.key.algorithm not in claim.systems]
    facts = [not_run(fact, reason, data) for fact in claim.facts]
    patterns = [not_run(pattern, reason) for pattern in claim.patterns]
    worked = WorkedExamples(claim).judge() if claim.examples else []
    judgements = (replace(judgement, data=claim.part) for judgement in (*cells, *worked, *facts, *patterns))
    return Replication(claim.name, claim.title, claim.source, tuple(judgements), claim=claim)
