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
from repro.export.record import RunRecord

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
    target.write_text(checklist_markdown(RunRecord.read(folder)), encoding="utf-8")


def checklist(record: RunRecord) -> list[Item]:
    """All questions with their answers."""
    stages = (_data, _splitting, _recommendation, _candidates, _evaluation, _testing, _artefacts)
    return [item for stage in stages for item in stage(record)]


def checklist_markdown(record: RunRecord) -> str:
    items = checklist(record)
    counts = {answer: sum(item.answer == answer for item in items) for answer in ("yes", "no", "not applicable")}
    lines = [
        "# Reproducibility checklist",
        "",
        f"Filled in from the journal of the run, which finished with {record.end.cited()}: "
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


def _event(record: RunRecord, kind: str) -> str:
    line = record.line(kind)
    return f"event {line.number} ({kind})"


def _asked(stage: str, question: str, holds: bool, evidence: str, otherwise: str = "") -> Item:
    """Yes with its evidence, or no with what is lacking."""
    return Item(stage, question, "yes" if holds else "no", evidence if holds else otherwise)


def _data(record: RunRecord) -> Iterator[Item]:
    stage, loaded, known = "Data", record.loaded, record.dataset
    where = _event(record, "data.loaded")
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
    touched = [impact.sentence for impact in record.prepared.impacts]
    yield _asked(
        stage,
        "Is all preprocessing stated, with what it removed?",
        True,
        f"{_event(record, 'data.prepared')}: {'; '.join(touched) or 'nothing was touched'}; SHA-256 after it "
        f"{record.prepared.digest}",
    )


def _splitting(record: RunRecord) -> Iterator[Item]:
    stage, folds = "Splitting", record.folds
    where = _event(record, "decisions.resolved")
    strategy = record.decisions["split.strategy"]
    yield _asked(
        stage, "Is the split stated in full?", True, f"{where}: split.strategy = {strategy}, and all it hangs on"
    )
    yield _asked(
        stage,
        "Can the very same split be had again?",
        bool(folds),
        f"{_event(record, 'fold.made')} and those before it: SHA-256 of training and test part of {len(folds)} folds; "
        f"test parts are stored; seed {record.began.seed}",
        "the journal has no folds",
    )
    tuned = record.run.journal.events("tuning.finished")
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
            f"{_event(record, 'tuning.finished')}: chosen on the validation part, before the cell is begun",
            "not all folds have a validation part",
        )


def _recommendation(record: RunRecord) -> Iterator[Item]:
    stage, cells = "Recommendation", record.cells
    started = f"{_event(record, 'cell.started')} and those before it"
    labels = list(dict.fromkeys(cell.label for cell in cells))
    yield _asked(
        stage,
        "Are algorithms, implementations and versions stated?",
        bool(cells),
        f"{started}: {len(labels)} algorithms of "
        + ", ".join(f"{name} {version}" for name, version in record.frameworks.items()),
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
    budgets = {(event.budget.trials, event.budget.seconds) for event in record.run.journal.events("tuning.finished")}
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
            f"{_event(record, 'tuning.finished')} and those before it: the same budget for {len(tuned)} algorithms",
            f"{started}: not tuned: {', '.join(fixed)}",
        )
    failed = record.failed
    yield _asked(
        stage,
        "Did all algorithms run on all folds?",
        not failed and not record.began.left_out,
        f"{_event(record, 'run.finished')}: {len(cells)} cells, none failed",
        "; ".join(
            [*(f"{cell} failed" for cell in failed), *(f"left out: {why}" for why in record.began.left_out.values())]
        ),
    )


def _candidates(record: RunRecord) -> Iterator[Item]:
    stage, question = "Candidates", "Is it stated, and recorded, which items were ranked?"
    digests = [
        cell.finish.digests["candidates"]
        for cell in record.cells
        if cell.finish and "candidates" in cell.finish.digests
    ]
    if not digests:
        yield Item(stage, question, "not applicable", "no list was made: the metrics are about predicted ratings")
        return
    yield _asked(
        stage,
        question,
        True,
        f"{_event(record, 'decisions.resolved')}: candidates.base = {record.decisions['candidates.base']}; "
        f"SHA-256 of the candidates in each of {len(digests)} events cell.finished",
    )


def _evaluation(record: RunRecord) -> Iterator[Item]:
    stage, where = "Evaluation", _event(record, "decisions.resolved")
    names = ", ".join(measure.full_name for measure in record.resolved.measures)
    yield _asked(stage, "Are metrics stated with every variant and cut-off?", True, f"{where}: {names}")
    opened = record.resolved.left_open_by_source
    yield _asked(
        stage,
        "Is every decision between score and number stated?",
        True,
        f"{where}: {len(record.resolved.decisions)} decisions with their origins"
        + (f"; the source of the protocol leaves open: {', '.join(opened)}" if opened else ""),
    )
    impacts = sum(len(cell.finish.impacts) for cell in record.cells if cell.finish)
    yield _asked(
        stage,
        "Is it known what missing scores, ties and users without relevant items touched?",
        impacts > 0,
        f"{impacts:,} counts in the events cell.finished",
        "no cell was finished",
    )
    per_user = [cell for cell in record.cells if cell.finish and {"values", "predictions"} & set(cell.finish.artifacts)]
    yield _asked(
        stage,
        "Are results of single users there, for other analyses?",
        bool(per_user),
        f"artefacts of {len(per_user)} events cell.finished",
        "no cell stored any",
    )
    beyond = [m.full_name for m in record.run.measures if m.metric.kind == "collection"]
    yield _asked(
        stage,
        "Is more than accuracy measured?",
        bool(beyond),
        f"{where}: {', '.join(beyond)}",
        f"{where}: all metrics are about accuracy",
    )


def _testing(record: RunRecord) -> Iterator[Item]:
    stage = "Statistical testing"
    question = "Can differences be tested on paired values of users?"
    paired = [m.name for m in record.run.measures if m.per_user]
    if len(record.run.cells) < 2:
        yield Item(stage, question, "not applicable", "fewer than two algorithms have all their folds")
        return
    yield _asked(
        stage,
        question,
        bool(paired),
        f"{_event(record, 'cell.finished')} and those before it store values of users for {', '.join(paired)}; "
        "the exports latex and methods, and `repro compare`, test them",
        "no metric has a value for each user",
    )


def _artefacts(record: RunRecord) -> Iterator[Item]:
    stage = "Artefacts"
    files = dict(record.files())
    frozen = [name for name in files if name.startswith("environments/")]
    yield _asked(
        stage,
        "Is the software environment recorded?",
        bool(frozen),
        f"{_event(record, 'results.written')}: {', '.join(frozen)}; {_event(record, 'run.started')}: versions, machine",
        "no environment was written",
    )
    yield _asked(
        stage,
        "Is everything that was made there and unharmed?",
        True,
        f"{len(files):,} files have the SHA-256 that the journal says; the run's {record.end.number:,} events are an "
        f"unbroken chain to {record.end.cited()}",
    )
    yield _asked(
        stage,
        "Were fits and scores timed?",
        any(cell.finish for cell in record.cells),
        f"{_event(record, 'cell.finished')} and those before it: seconds to fit, score and rank",
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
