"""Questions of guidelines on reproducible recommender-systems research, answered from the journal with evidence.

The questions follow the stages of Bellogín & Said (2021): data, splitting, recommendation, candidates, evaluation,
statistical testing; with those of Konstan & Adomavicius (2013), Cremonesi & Jannach (2021) and the badges of the ACM
for artefacts. An answer is "yes" only with the event of the journal that shows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from repro.exports.bibliography import citations, entries
from repro.runs.run import Run

GUIDELINES = ("Konstan & Adomavicius 2013", "Bellogín & Said 2021", "Cremonesi & Jannach 2021")
Answer = Literal["yes", "no", "not applicable"]
Answered = tuple[str, Answer, str]  # question, answer, evidence


@dataclass(frozen=True)
class Item:
    """A question, its answer, and the evidence: an event of the journal and its content."""

    stage: str
    question: str
    answer: Answer
    evidence: str


def write_checklist(run: Run, target: Path) -> None:
    """One Markdown file."""
    target.write_text(checklist_markdown(run), encoding="utf-8")


def checklist(run: Run) -> list[Item]:
    """All questions with their answers."""
    stages = {
        "Data": _data,
        "Splitting": _splitting,
        "Recommendation": _recommendation,
        "Candidates": _candidates,
        "Evaluation": _evaluation,
        "Statistical testing": _testing,
        "Artefacts": _artefacts,
    }
    return [Item(stage, *answered) for stage, answers in stages.items() for answered in answers(run)]


def checklist_markdown(run: Run) -> str:
    items = checklist(run)
    counts = {answer: sum(item.answer == answer for item in items) for answer in ("yes", "no", "not applicable")}
    lines = [
        "# Reproducibility checklist",
        "",
        f"Filled in from the journal of the run, which finished with {run.end.cited()}: "
        + ", ".join(f"{count} {answer}" for answer, count in counts.items())
        + ". Questions that a journal cannot answer have the answer no.",
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
    """Text without markup, in one cell of a table."""
    return " ".join(text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`").split())


def _event(run: Run, kind: str) -> str:
    return f"event {run.line(kind).number} ({kind})"


def _check(question: str, holds: bool, evidence: str, otherwise: str = "") -> Answered:
    """Yes with its evidence, or no with what is missing."""
    return (question, "yes", evidence) if holds else (question, "no", otherwise)


def _data(run: Run) -> Iterator[Answered]:
    loaded, known, event = run.loaded, run.dataset, _event(run, "data.loaded")
    yield _check(
        "Is the exact data identified?",
        True,
        f"{event}: {loaded.data}, {loaded.rows:,} interactions, SHA-256 {loaded.digest}",
    )
    yield _check(
        "Is it stated where the data is available, and under which terms?",
        known is not None,
        f"{event}; {known.home}: {known.terms}" if known else "",
        f"{event} names {loaded.data}, which is not in the registry of data sets; state where it is available",
    )
    impacts = "; ".join(impact.sentence for impact in run.prepared.impacts) or "nothing was changed"
    yield _check(
        "Is all preprocessing stated, with what it removed?",
        True,
        f"{_event(run, 'data.prepared')}: {impacts}; SHA-256 after it {run.prepared.digest}",
    )


def _splitting(run: Run) -> Iterator[Answered]:
    folds, strategy = run.folds, run.decisions["split.strategy"]
    event = _event(run, "decisions.resolved")
    yield _check(
        "Is the split stated in full?", True, f"{event}: split.strategy = {strategy}, and all decisions it depends on"
    )
    yield _check(
        "Can the same split be made again?",
        bool(folds),
        f"{_event(run, 'fold.made')} and those before it: SHA-256 of training and test part of {len(folds)} folds; "
        f"test parts are stored; seed {run.started.seed}",
        "the journal has no folds",
    )
    question = "Is tuning separate from the test set?"
    if not run.journal.events("tuning.finished"):
        yield question, "not applicable", "no event tuning.finished: nothing was tuned"
    else:
        yield _check(
            question,
            all(fold.validation_digest for fold in folds),
            f"{_event(run, 'tuning.finished')}: chosen on the validation part, before the cell is begun",
            "not all folds have a validation part",
        )


def _recommendation(run: Run) -> Iterator[Answered]:
    cells = run.cell_records
    started = f"{_event(run, 'cell.started')} and those before it"
    labels = list(dict.fromkeys(cell.label for cell in cells))
    versions = ", ".join(f"{name} {version}" for name, version in run.framework_versions.items())
    yield _check(
        "Are algorithms, implementations and versions stated?",
        bool(cells),
        f"{started}: {len(labels)} algorithms of {versions}",
        "no cell was begun",
    )
    yield _check(
        "Are all parameters stated?", bool(cells), f"{started}: parameters and seed of each", "no cell was begun"
    )
    unmapped = sorted({f"{cell.label}: {name}" for cell in cells for name in cell.start.unmapped})
    yield _check(
        "Could every requested parameter be set?",
        not unmapped,
        f"{started}: none is unmapped",
        f"{started}: {', '.join(unmapped)}",
    )
    random = sorted({cell.label for cell in cells if not cell.start.deterministic})
    yield _check(
        "Does a seed give the same scores again?",
        not random,
        f"{started}: all are declared deterministic",
        f"{started}: not declared so: {', '.join(random)}",
    )
    yield _tuned(run, started)
    failures = [f"{cell} failed" for cell in run.failed]
    failures += [f"left out: {reason}" for reason in run.left_out.values()]
    yield _check(
        "Did all algorithms run on all folds?",
        not failures,
        f"{_event(run, 'run.finished')}: {len(cells)} cells, none failed",
        "; ".join(failures),
    )


def _tuned(run: Run, started: str) -> Answered:
    question, cells = "Were all algorithms with parameters tuned, baselines too?", run.cell_records
    tuned = {cell.label for cell in cells if cell.start.tuned}
    fixed = sorted({cell.label for cell in cells if not cell.start.tuned and cell.start.parameters})
    if not tuned:
        otherwise = f"{started}: nothing was tuned; {', '.join(fixed)} ran with stated or default parameters"
        return _check(question, not fixed, f"{started}: none has parameters", otherwise)
    budgets = {(event.budget.trials, event.budget.seconds) for event in run.journal.events("tuning.finished")}
    return _check(
        question,
        not fixed and len(budgets) == 1,
        f"{_event(run, 'tuning.finished')} and those before it: the same budget for {len(tuned)} algorithms",
        f"{started}: not tuned: {', '.join(fixed)}",
    )


def _candidates(run: Run) -> Iterator[Answered]:
    question = "Is it stated, and recorded, which items were ranked?"
    finished = [cell.finish for cell in run.cell_records if cell.finish and "candidates" in cell.finish.digests]
    if not finished:
        yield question, "not applicable", "there are no lists: the metrics are about predicted ratings"
        return
    yield _check(
        question,
        True,
        f"{_event(run, 'decisions.resolved')}: candidates.base = {run.decisions['candidates.base']}; "
        f"SHA-256 of the candidates in each of {len(finished)} events cell.finished",
    )


def _evaluation(run: Run) -> Iterator[Answered]:
    event, finished = _event(run, "decisions.resolved"), [cell.finish for cell in run.cell_records if cell.finish]
    names = ", ".join(measure.full_name for measure in run.resolved.measures)
    yield _check("Are metrics stated with every variant and cut-off?", True, f"{event}: {names}")
    left_open = run.resolved.left_open_by_source
    yield _check(
        "Is every decision between score and number stated?",
        True,
        f"{event}: {len(run.resolved.decisions)} decisions with their origins"
        + (f"; the source of the protocol leaves open: {', '.join(left_open)}" if left_open else ""),
    )
    impacts = sum(len(finish.impacts) for finish in finished)
    yield _check(
        "Is it counted how many missing scores, ties and users without relevant items there were?",
        impacts > 0,
        f"{impacts:,} counts in the events cell.finished",
        "no cell was finished",
    )
    per_user = sum(bool({"values", "predictions"} & set(finish.artifacts)) for finish in finished)
    yield _check(
        "Are results of single users available for other analyses?",
        per_user > 0,
        f"artefacts of {per_user} events cell.finished",
        "no cell stored any",
    )
    beyond = [measure.full_name for measure in run.measures if measure.metric.kind == "collection"]
    yield _check(
        "Is more than accuracy measured?",
        bool(beyond),
        f"{event}: {', '.join(beyond)}",
        f"{event}: all metrics are about accuracy",
    )


def _testing(run: Run) -> Iterator[Answered]:
    question = "Can differences be tested on paired values of users?"
    paired = [measure.name for measure in run.measures if measure.per_user]
    if len(run.cells) < 2:
        yield question, "not applicable", "fewer than two algorithms have all their folds"
        return
    yield _check(
        question,
        bool(paired),
        f"{_event(run, 'cell.finished')} and those before it store values of users for {', '.join(paired)}; "
        "the exports latex and methods, and `repro compare`, test them",
        "no metric has a value for each user",
    )


def _artefacts(run: Run) -> Iterator[Answered]:
    files = dict(run.file_digests())
    environments = [name for name in files if name.startswith("environments/")]
    yield _check(
        "Is the software environment recorded?",
        bool(environments),
        f"{_event(run, 'results.written')}: {', '.join(environments)}; {_event(run, 'run.started')}: versions, machine",
        "no environment was written",
    )
    yield _check(
        "Is every file of the run present and unchanged?",
        True,
        f"{len(files):,} files have the SHA-256 of the journal; the run's {run.end.number:,} events are an unbroken "
        f"chain to {run.end.cited()}",
    )
    yield _check(
        "Were fits and scores timed?",
        any(cell.finish for cell in run.cell_records),
        f"{_event(run, 'cell.finished')} and those before it: seconds to fit, score and rank",
        "no cell was finished",
    )
    yield (
        "Has somebody else obtained the same numbers?",
        "no",
        "a journal cannot show it; `repro replay` repeats the run",
    )
    yield (
        "Are the artefacts in a public archive?",
        "no",
        "a journal cannot show it; the export ro-crate is made for one",
    )
