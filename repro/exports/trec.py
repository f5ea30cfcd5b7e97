"""The lists of a run as TREC run files, and its test parts as qrels, for the evaluators of information retrieval.

A run file has ``topic Q0 item rank score tag`` on a line, a qrels file ``topic 0 item relevance``. A topic is a user;
where every relevant item has a list of its own (1R), it is ``user:item``. Evaluators order items by their scores and
some break ties by item, so the score is the rank counted from the end of the list: whole numbers, none of them twice.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from repro.data import Interactions
from repro.data.io.parquet import read_parquet
from repro.data.spreadsheet import csv_text
from repro.errors import ProtocolError, StudyError
from repro.evaluation.candidates import judge
from repro.evaluation.ranking import gives_order
from repro.runs.cell_records import CellRecord
from repro.runs.run import Run

# Characters that end a word or start a comment in TREC files, and the sign of an escape.
_UNSAFE = re.compile(r"[\s\x00-\x1f\x7f%#]")


def write_trec(run: Run, target: Path) -> None:
    """``runs/ALGORITHM.FOLD.run``, ``qrels/FOLD.qrels``, ``index.csv`` and ``README.txt``."""
    TrecFiles(run).write(target)


@dataclass(frozen=True, eq=False)
class TrecFiles:
    """The TREC files of a run."""

    run: Run

    def __post_init__(self) -> None:
        if not self.cells:
            raise StudyError(f"the run in {self.run.folder} has no lists: its metrics are about predicted ratings")
        if self.run.decisions["relevance.rule"] == "user-mean":
            raise ProtocolError(
                'the run has relevance.rule = "user-mean", which depends on training ratings that a run does not '
                "store; use a threshold, or make every held-out item relevant"
            )

    @cached_property
    def cells(self) -> list[CellRecord]:
        """The cells with lists, by algorithm and fold."""
        every = [cell for label in self.run.algorithms for cell in self.run.finished_cells(label)]
        return [cell for cell in every if cell.finish and "lists" in cell.finish.artifacts]

    @cached_property
    def tags(self) -> dict[str, str]:
        """The name of each algorithm as one word."""
        return _words(dict.fromkeys(cell.label for cell in self.cells))

    @cached_property
    def folds(self) -> dict[str, str]:
        """The name of each fold as one word."""
        return _words(fold.fold for fold in self.run.folds)

    def write(self, target: Path, header: Callable[[CellRecord], Iterable[str]] = lambda cell: ()) -> None:
        """All files, with ``header`` above the lines of each run."""
        for part in ("qrels", "runs"):
            (target / part).mkdir(parents=True)
        for fold in self.judged:
            write_lines(target / self.qrels_path(fold), self._qrels(fold))
        for cell in self.cells:
            write_lines(target / self._path(cell), itertools.chain(header(cell), self._lines(cell)))
        self._write_index(target)

    def qrels_path(self, fold: str) -> str:
        return f"qrels/{self.folds[fold]}.qrels"

    def _path(self, cell: CellRecord) -> str:
        return f"runs/{self.tags[cell.label]}.{self.folds[cell.fold]}.run"

    @cached_property
    def judged(self) -> dict[str, tuple[Interactions, Any]]:
        """The test part of each fold, and which of its rows are relevant."""
        judged = {}
        for fold in self.run.folds:
            rows = Interactions.from_frame(read_parquet(self.run.artifact(fold.artifacts["test"])).to_pandas())
            # None of the remaining rules of relevance reads training rows.
            judged[fold.fold] = rows, judge(rows.select(np.arange(0)), rows, self.run.protocol)
        return judged

    @cached_property
    def escaped(self) -> bool:
        """Whether ids are escaped because some of them could not be read back."""
        ids = [ids for rows, _ in self.judged.values() for ids in (rows.user_ids, rows.item_ids)]
        ids += [np.unique(self._stored(cell)["item"]) for cell in self.cells]
        return any(_UNSAFE.search(str(value)) or not str(value) for column in ids for value in column)

    def _lines(self, cell: CellRecord) -> Iterator[str]:
        """The lines of one run file."""
        lists, tag = self._stored(cell), self.tags[cell.label]
        topics = self._topics(lists["user"], lists.get("target"))
        ranks = lists["rank"]
        length: dict[str, int] = {}
        for topic, rank in zip(topics, ranks, strict=True):
            length[topic] = max(length.get(topic, 0), rank)
        for topic, item, rank in zip(topics, self._ids(lists["item"]), ranks, strict=True):
            yield f"{topic} Q0 {item} {rank} {length[topic] - rank + 1} {tag}"

    def _qrels(self, fold: str) -> Iterator[str]:
        rows, judgements = self.judged[fold]
        users = self._ids(rows.user_ids[judgements.users])
        items = self._ids(rows.item_ids[judgements.items])
        rows_of_file = list(zip(users, items, judgements.relevant.tolist(), strict=True))
        if self.run.decisions["candidates.relevant"] == "one":
            return (f"{user}:{item} 0 {item} 1" for user, item, relevant in rows_of_file if relevant)
        return (f"{user} 0 {item} {relevant}" for user, item, relevant in rows_of_file)

    def _write_index(self, target: Path) -> None:
        """The content of each file, and notes about all of them."""
        rows = [["file", "algorithm", "uses", "fold", "qrels", "lists"]]
        for cell in self.cells:
            assert cell.finish is not None
            digest = cell.finish.artifacts["lists"]
            rows.append(
                [self._path(cell), cell.label, cell.start.algorithm, cell.fold, self.qrels_path(cell.fold), digest]
            )
        (target / "index.csv").write_text(csv_text(rows), encoding="utf-8")
        write_lines(target / "README.txt", self._notes())

    def _notes(self) -> Iterator[str]:
        decisions = self.run.decisions
        yield "TREC run files and qrels of a run that finished in its journal with"
        yield f"  {self.run.end.cited()}."
        yield "index.csv says which file is which; its last column is the SHA-256 of the stored lists."
        yield "A score is the rank counted from the end of a list, so that every evaluator keeps the order of the run."
        yield "Relevance is 1 or 0, by the protocol's rule. A user without a relevant item has a topic of zeros only:"
        yield f'  the run counts such users by average.no_relevant = "{decisions["average.no_relevant"]}".'
        if self.run.dataset:
            yield f"Qrels are part of the data set, and under its terms: {self.run.dataset.terms}"
        if decisions["candidates.relevant"] == "one":
            yield "Every relevant item has a list of its own; topics are user:item."
        if not gives_order(decisions):
            yield f'The run has ties.break = "{decisions["ties.break"]}", under which items with equal scores have no'
            yield "  order of their own. A file needs one: the numbers that it gives differ where there are ties."
        if self.escaped:
            yield "Some ids have blanks or other characters that would end a word: in all ids, these as well as % and #"
            yield "  are written as in addresses (%20 is a blank); an empty id is %."

    def _stored(self, cell: CellRecord) -> Mapping[str, Sequence[Any]]:
        assert cell.finish is not None
        table = read_parquet(self.run.artifact(cell.finish.artifacts["lists"]))
        return {name: table[name].to_pylist() for name in table.column_names}

    def _topics(self, users: Sequence[Any], targets: Sequence[Any] | None) -> list[str]:
        if targets is None:
            return self._ids(users)
        return [f"{user}:{item}" for user, item in zip(self._ids(users), self._ids(targets), strict=True)]

    def _ids(self, ids: Iterable[Any]) -> list[str]:
        if not self.escaped:
            return [str(value) for value in ids]
        return [_UNSAFE.sub(lambda match: _escape(match[0]), str(value)) or "%" for value in ids]


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode())


def _words(names: Iterable[str]) -> dict[str, str]:
    """Each name as one word that can be part of a file name; equal words are numbered."""
    words: dict[str, str] = {}
    for name in names:
        word = re.sub(r"[^\w.+-]+", "-", name, flags=re.ASCII).strip("-.") or "unnamed"
        taken = {other.lower() for other in words.values()}
        numbered = (word if number == 1 else f"{word}-{number}" for number in range(1, len(taken) + 2))
        words[name] = next(candidate for candidate in numbered if candidate.lower() not in taken)
    return words


def write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
