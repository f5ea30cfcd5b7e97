"""Run a claim, and say what came of each of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from repro.replicate.claim import FILE, Claim
from repro.replicate.examples import WorkedExamples
from repro.replicate.facts import judge_facts, unavailable
from repro.replicate.judge import Budget, Verdicts
from repro.replicate.patterns import judge_patterns
from repro.replicate.runs import Options, Runs, versions_of
from repro.replicate.verdict import Judged, Replication
from repro.replicate.writing import write_replication

Tell = Callable[[str, int, int], None]


def replicate(
    claim: Claim | str | Path,
    *,
    seeds: int | None = None,
    newer: bool = False,
    options: Options | None = None,
    budget: Budget | None = None,
    tell: Tell | None = None,
) -> Replication:
    """Run what a claim needs, judge its numbers, and write verdicts and journal beside it.

    seeds    how many seeds are run: the claim's own, and as many further ones as are missing
    newer    where the claim pins versions of frameworks, run those that are installed here too
    options  how runs are carried out
    budget   how much is tried of what is open, and for numbers that differ

    >>> repro.replicate.replicate("claim.toml").summary
    '1 exact'
    """
    asked = claim if isinstance(claim, Claim) else Claim.load(claim)
    given, limits = options or Options(), budget or Budget()
    if reason := unavailable(asked):
        return write_replication(asked, _not_run(asked, reason), None)
    examples = WorkedExamples(asked) if asked.examples else None
    found, own = _judged(asked, given, limits, seeds_of(asked, seeds), examples, tell)
    if newer and asked.frameworks and not given.installed:
        found = _with_newer(asked, found, given, tell)
    return write_replication(asked, found, own)


def seeds_of(claim: Claim, wanted: int | None) -> tuple[int, ...]:
    """The claim's seeds, the first so many of them, or with further ones: the whole numbers that come next."""
    if wanted is None:
        return claim.seeds
    seeds = list(claim.seeds[:wanted])
    following = max(seeds) + 1
    return (*seeds, *range(following, following + wanted - len(seeds)))


def claims_below(folder: Path) -> list[Path]:
    """The claim files in a folder and all below it, by name; those of runs are none."""
    return sorted(path for path in folder.rglob(FILE) if "run" not in path.relative_to(folder).parts)


def _judged(
    claim: Claim,
    options: Options,
    budget: Budget,
    seeds: Sequence[int],
    examples: WorkedExamples | None,
    tell: Tell | None,
) -> tuple[Replication, Path | None]:
    runs = Runs(claim, options, seeds)
    verdicts = Verdicts(runs, budget, tell)
    judged = verdicts.find()
    judged += examples.judge() if examples else []
    judged += judge_facts(claim)
    judged += judge_patterns(runs, examples)
    own = runs.own()
    notes = [*verdicts.notes]
    if options.installed and claim.frameworks:
        notes.append("Frameworks ran in the versions that are installed here, not in those that the claim names.")
    found = Replication(
        name=claim.name,
        title=claim.title,
        source=claim.source,
        judged=tuple(judged),
        notes=tuple(notes),
        versions={} if own is None else versions_of(own),
        searches=tuple(verdicts.searches),
    )
    return found, own


def _with_newer(claim: Claim, found: Replication, options: Options, tell: Tell | None) -> Replication:
    """The same with what the versions that are installed here give."""
    examples = WorkedExamples(claim) if claim.examples else None
    here = replace(options, installed=True)
    again, _ = _judged(claim, here, Budget(1, 1, 1), claim.seeds[:1], examples, tell)
    versions = again.versions
    both = {name: (found.versions.get(name, ""), versions[name]) for name in claim.frameworks if name in versions}
    if all(one == two for one, two in both.values()):
        return replace(found, notes=(*found.notes, "The versions that are installed here are those of the claim."))
    judged = tuple(_beside(one, two) for one, two in zip(found.judged, again.judged, strict=True))
    changed = sum(one.newer is not None for one in judged)
    told = ", ".join(f"{name} {two} in place of {one}" for name, (one, two) in both.items())
    several = "another number" if changed == 1 else "other numbers"
    note = f"With what is installed here, {told}, {changed} of {len(judged)} come out as {several}."
    return replace(found, notes=(*found.notes, note), judged=judged)


def _beside(pinned: Judged, here: Judged) -> Judged:
    """A number with that of other versions, where it is another one in print."""
    if pinned.printed is None or here.value != here.value:
        return pinned
    same = pinned.printed.shown(pinned.value) == pinned.printed.shown(here.value)
    return pinned if same else replace(pinned, newer=here.value)


def _not_run(claim: Claim, reason: str) -> Replication:
    """A claim that cannot be run here: no verdict, and what to do. Worked examples and the like run all the same."""
    cells = [
        Judged(
            what="cell",
            algorithm=cell.place.algorithm,
            metric=cell.place.metric,
            verdict="not run",
            printed=cell.printed,
            under=cell.place.under,
            changes=cell.place.changes,
            why=reason,
        )
        for cell in claim.cells
        if cell.place.algorithm not in claim.systems
    ]
    facts = [
        Judged(
            what="fact",
            algorithm=claim.data.name if claim.data else "",
            metric=fact.name,
            verdict="not run",
            printed=fact.printed,
            under=fact.under,
            why=reason,
        )
        for fact in claim.facts
    ]
    patterns = [
        Judged(what="pattern", algorithm=one.says, metric=one.relation, verdict="not run", why=reason)
        for one in claim.patterns
    ]
    worked = WorkedExamples(claim).judge() if claim.examples else []
    return Replication(claim.name, claim.title, claim.source, (*cells, *worked, *facts, *patterns))
