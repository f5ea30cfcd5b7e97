"""What guidelines on reproducible recommender-systems research ask for, answered from the journal, with the evidence.

The questions follow the stages of Bellogín & Said (2021): data, splitting, recommendation, candidates, evaluation,
statistical testing; with what Konstan & Adomavicius (2013), Cremonesi & Jannach (2021) and the badges of the ACM for
artefacts ask beside them. An answer is "yes" only with the event of the journal that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repro.export.bibliography import citations, entries
from repro.export.source import read_run
from repro.runs.run import Run

GUIDELINES = ("Konstan & Adomavicius 2013", "Bellogín & Said 2021", "Cremonesi & Jannach 2021")
Answer = Literal["yes", "no", "not applicable"]


@dataclass(frozen=True)
class Item:
    """A question, its answer, and what shows it: an event of the journal, and what it says."""

    stage: str
    question: str
    answer: Answer
    evidence: str


def write_checklist(folder: Path, target: Path) -> None:
    """One Markdown file."""
    target.write_text(checklist_markdown(read_run(folder)), encoding="utf-8")


def checklist(run: Run) -> list[Item]:
    """All questions with their answers."""
    stages = (_data, _splitting, _recommendation, _candidates, _evaluation, _testing, _artefacts)
    return [item for stage in stages for item in stage(run)]


def checklist_markdown(run: Run) -> str:
    items = checklist(run)
    counts = {answer: sum(item.answer == answer for item in items) for answer in ("yes", "no", "not applicable")}
    lines = [
        "# Reproducibility checklist",
        "",
        f"Filled in from the journal of the run, which finished with {run.end.cited()}: "
        + ", ".join(f"{count} {answer}" for answer, count in counts.items())
        + ". What a journal cannot know is answered no.",
    ]
    stage = ""
    for item in items:
        if item.stage != stage:
            stage = item.stage
            lines += ["", f"## {stage}", "", "| question | answer | evidence |", "| --- | --- | --- |"]
        lines.append(f"| {item.question} | {item.answer} | {_cell(item.evidence)} |")
    cited = [entries()[citation.key].plain() for cite in GUIDELINES for citation in citations(cite)]
    acm = "Association for Computing Machinery. Artifact Review and Badging, version 1.1. 2020."
    lines += ["", "The questions are put together, in our words, from:", "", *(f"- {text}" for text in (*cited, acm))]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text that stays in its cell, and is no markup."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`").split())


def _event(run: Run, kind: str) -> str:
    line = run.line(kind)
    return f"event {line.number} ({kind})"


def _asked(stage: str, question: str, holds: bool, evidence: str, otherwise: str = "") -> Item:
    """Yes with its evidence, or no with what is lacking."""
    return Item(stage, question, "yes" if holds else "no", evidence if holds else otherwise)


def _data(run: Run) -> Iterator[Item]:
    stage, loaded, known = "Data", run.loaded, run.dataset
    where = _event(run, "data.loaded")
    yield _asked(
        stage,
        "Is the exact data identified?",
        True,
        f"{where}: {loaded.data}, {loaded.rows:,} interactions, SHA-256 {loaded.digest}",
    )
    yield _asked(
        stage,
        "Is it said where the data can be had, and under which terms?",
        known is not None,
        f"{where}; {known.home}: {known.terms}" if known else "",
        f"{where} names {loaded.data}, which is not in the registry of data sets; say where it can be had",
    )
    touched = [impact.sentence for impact in run.prepared.impacts]
    yield _asked(
        stage,
        "Is all preprocessing stated, with what it removed?",
        True,
        f"{_event(run, 'data.prepared')}: {'; '.join(touched) or 'nothing was touched'}; SHA-256 after it "
        f"{run.prepared.digest}",
    )


def _splitting(run: Run) -> Iterator[Item]:
    stage, folds = "Splitting", run.folds
    where = _event(run, "decisions.resolved")
    strategy = run.decisions["split.strategy"]
    yield _asked(
        stage, "Is the split stated in full?", True, f"{where}: split.strategy = {strategy}, and all it hangs on"
    )
    yield _asked(
        stage,
        "Can the very same split be had again?",
        bool(folds),
        f"{_event(run, 'fold.made')} and those before it: SHA-256 of training and test part of {len(folds)} folds; "
        f"test parts are stored; seed {run.started.seed}",
        "the journal has no folds",
    )
    tuned = run.journal.events("tuning.finished")
    validated = all(fold.validation_digest for fold in folds)
    if not tuned:
        yield Item(
            stage,
            "Is tuning kept apart from the test set?",
            "not applicable",
            "no event tuning.finished: nothing was tuned",
        )
    else:
        yield _asked(
            stage,
            "Is tuning kept apart from the test set?",
            validated,
            f"{_event(run, 'tuning.finished')}: chosen on the validation part, before the cell is begun",
            "not all folds have a validation part",
        )


def _recommendation(run: Run) -> Iterator[Item]:
    stage, cells = "Recommendation", run.cell_records
    started = f"{_event(run, 'cell.started')} and those before it"
    labels = list(dict.fromkeys(cell.label for cell in cells))
    yield _asked(
        stage,
        "Are algorithms, implementations and versions stated?",
        bool(cells),
        f"{started}: {len(labels)} algorithms of "
        + ", ".join(f"{name} {version}" for name, version in run.framework_versions.items()),
        "no cell was begun",
    )
    yield _asked(
        stage, "Are all parameters stated?", bool(cells), f"{started}: parameters and seed of each", "no cell was begun"
    )
    unmapped = sorted({f"{cell.label}: {name}" for cell in cells for name in cell.start.unmapped})
    yield _asked(
        stage,
        "Could every parameter that was asked for be set?",
        not unmapped,
        f"{started}: none is unmapped",
        f"{started}: {', '.join(unmapped)}",
    )
    random = sorted({cell.label for cell in cells if not cell.start.deterministic})
    yield _asked(
        stage,
        "Does a seed give the same scores again?",
        not random,
        f"{started}: all are declared deterministic",
        f"{started}: not declared so: {', '.join(random)}",
    )
    tuned = {cell.label for cell in cells if cell.start.tuned}
    budgets = {(event.budget.trials, event.budget.seconds) for event in run.journal.events("tuning.finished")}
    fixed = sorted({cell.label for cell in cells if not cell.start.tuned and cell.start.parameters})
    if not tuned:
        yield _asked(
            stage,
            "Were all algorithms with parameters tuned, baselines too?",
            not fixed,
            f"{started}: none has parameters",
            f"{started}: nothing was tuned; {', '.join(fixed)} ran with stated or default parameters",
        )
    else:
        yield _asked(
            stage,
            "Were all algorithms with parameters tuned, baselines too?",
            not fixed and len(budgets) == 1,
            f"{_event(run, 'tuning.finished')} and those before it: the same budget for {len(tuned)} algorithms",
            f"{started}: not tuned: {', '.join(fixed)}",
        )
    failed = run.failed
    yield _asked(
        stage,
        "Did all algorithms run on all folds?",
        not failed and not run.started.left_out,
        f"{_event(run, 'run.finished')}: {len(cells)} cells, none failed",
        "; ".join(
            [*(f"{cell} failed" for cell in failed), *(f"left out: {why}" for why in run.started.left_out.values())]
        ),
    )


def _candidates(run: Run) -> Iterator[Item]:
    stage, question = "Candidates", "Is it stated, and recorded, which items were ranked?"
    digests = [
        cell.finish.digests["candidates"]
        for cell in run.cell_records
        if cell.finish and "candidates" in cell.finish.digests
    ]
    if not digests:
        yield Item(stage, question, "not applicable", "no list was made: the metrics are about predicted ratings")
        return
    yield _asked(
        stage,
        question,
        True,
        f"{_event(run, 'decisions.resolved')}: candidates.base = {run.decisions['candidates.base']}; "
        f"SHA-256 of the candidates in each of {len(digests)} events cell.finished",
    )


def _evaluation(run: Run) -> Iterator[Item]:
    stage, where = "Evaluation", _event(run, "decisions.resolved")
    names = ", ".join(measure.full_name for measure in run.resolved.measures)
    yield _asked(stage, "Are metrics stated with every variant and cut-off?", True, f"{where}: {names}")
    opened = run.resolved.left_open_by_source
    yield _asked(
        stage,
        "Is every decision between score and number stated?",
        True,
        f"{where}: {len(run.resolved.decisions)} decisions with their origins"
        + (f"; the source of the protocol leaves open: {', '.join(opened)}" if opened else ""),
    )
    impacts = sum(len(cell.finish.impacts) for cell in run.cell_records if cell.finish)
    yield _asked(
        stage,
        "Is it known what missing scores, ties and users without relevant items touched?",
        impacts > 0,
        f"{impacts:,} counts in the events cell.finished",
        "no cell was finished",
    )
    per_user = [
        cell for cell in run.cell_records if cell.finish and {"values", "predictions"} & set(cell.finish.artifacts)
    ]
    yield _asked(
        stage,
        "Are results of single users there, for other analyses?",
        bool(per_user),
        f"artefacts of {len(per_user)} events cell.finished",
        "no cell stored any",
    )
    beyond = [m.full_name for m in run.measures if m.metric.kind == "collection"]
    yield _asked(
        stage,
        "Is more than accuracy measured?",
        bool(beyond),
        f"{where}: {', '.join(beyond)}",
        f"{where}: all metrics are about accuracy",
    )


def _testing(run: Run) -> Iterator[Item]:
    stage = "Statistical testing"
    question = "Can differences be tested on paired values of users?"
    paired = [m.name for m in run.measures if m.per_user]
    if len(run.cells) < 2:
        yield Item(stage, question, "not applicable", "fewer than two algorithms have all their folds")
        return
    yield _asked(
        stage,
        question,
        bool(paired),
        f"{_event(run, 'cell.finished')} and those before it store values of users for {', '.join(paired)}; "
        "the exports latex and methods, and `repro compare`, test them",
        "no metric has a value for each user",
    )


def _artefacts(run: Run) -> Iterator[Item]:
    stage = "Artefacts"
    files = dict(run.file_digests())
    frozen = [name for name in files if name.startswith("environments/")]
    yield _asked(
        stage,
        "Is the software environment recorded?",
        bool(frozen),
        f"{_event(run, 'results.written')}: {', '.join(frozen)}; {_event(run, 'run.started')}: versions, machine",
        "no environment was written",
    )
    yield _asked(
        stage,
        "Is everything that was made there and unharmed?",
        True,
        f"{len(files):,} files have the SHA-256 that the journal says; the run's {run.end.number:,} events are an "
        f"unbroken chain to {run.end.cited()}",
    )
    yield _asked(
        stage,
        "Were fits and scores timed?",
        any(cell.finish for cell in run.cell_records),
        f"{_event(run, 'cell.finished')} and those before it: seconds to fit, score and rank",
        "no cell was finished",
    )
    yield Item(
        stage, "Has somebody else obtained the same numbers?", "no", "a journal cannot show it; `repro replay` tries it"
    )
    yield Item(
        stage,
        "Are the artefacts in a public archive?",
        "no",
        "a journal cannot show it; the export ro-crate is made for one",
    )
