"""Finds all problems in the file of a study at once, for `repro study check`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from repro.data import Interactions, prepare
from repro.errors import ReproError, nearest
from repro.evaluation.metrics import Measure, metrics, parse_measure, reading_notes, simple_measures
from repro.plugin import how_to_install, plugins
from repro.protocol import Protocol, line_of
from repro.study.entry import KEYS as ENTRY_KEYS
from repro.study.entry import Entry, read_entries
from repro.study.fold_data import fold_data
from repro.study.metric_lists import expanded_metrics
from repro.study.model import KEYS, Study, read_toml, stated_protocol
from repro.study.plan import make_plan
from repro.study.tuning.settings import read_tuning, with_search_spaces

Severity = Literal["error", "warning"]
Result = TypeVar("Result")

REQUIRED = ("data", "protocol", "algorithms", "metrics")
_PLACE = re.compile(r"^(?:.*?\.toml|.*?):(\d+): ")
_TOML_LINE = re.compile(r"at line (\d+)")


@dataclass(frozen=True)
class Problem:
    """Something in a study that stops its run ("error"), or makes a number of it mislead ("warning").

    line   of the file; None where the problem is that something is not there
    about  the key of the study: data, protocol, metrics, algorithms, tune, ...
    """

    severity: Severity
    line: int | None
    about: str
    text: str


def check_study(path: str | Path) -> list[Problem]:
    """The problems of the study in a file, by line; none where it can run.

    Every part is checked, whatever is wrong with the others: keys, data, protocol, metrics, algorithms, frameworks and
    parameters, tuning; and together, whether the data has what protocol and metrics need.
    """
    path = Path(path)
    try:
        text, document = read_toml(path, "study")
    except ReproError as error:
        toml_line = _TOML_LINE.search(str(error))
        return [Problem("error", int(toml_line[1]) if toml_line else None, "file", str(error))]
    return _Checker(path, text, document).problems()


class _Checker:
    """The parts of a study that can be read, and the problems of the others."""

    def __init__(self, path: Path, text: str, document: Mapping[str, Any]) -> None:
        self._path, self._text, self._document = path, text, document
        self._problems: list[Problem] = []
        self._metric_lines: dict[str, int | None] = {}

    def problems(self) -> list[Problem]:
        self._check_keys()
        protocol = self._protocol()
        measures = self._measures(protocol)
        entries = self._entries()
        if protocol is not None:
            self._check_tuning(protocol, entries)
            if (source := self._data()) is not None:
                self._check_data(source, protocol, measures, entries)
        self._check_scores(measures, entries)
        return sorted(dict.fromkeys(self._problems), key=lambda problem: problem.line or 0)

    def _add(self, about: str, text: str, line: int | None = None, severity: Severity = "error") -> None:
        """Add the problems of an error's text, each with the line that it states, or ``line``."""
        for sentence in text.splitlines():
            sentence = sentence.strip()
            if not sentence or (sentence.startswith(f"{self._path}, [") and sentence.endswith(":")):
                continue
            place = _PLACE.match(sentence)
            if place and sentence.startswith(str(self._path)):
                self._problems.append(Problem(severity, int(place[1]), about, sentence[place.end() :]))
            else:
                self._problems.append(Problem(severity, line, about, sentence))

    def _attempt(self, about: str, function: Callable[[], Result], line: int | None) -> Result | None:
        try:
            return function()
        except ReproError as error:
            self._add(about, str(error), line)
        except (TypeError, ValueError) as error:
            self._add(about, f"{error}", line)
        return None

    def _line(self, key: str) -> int | None:
        return line_of(self._text, key) if key.partition(".")[0] in self._document else None

    def _line_with(self, key: str, words: Iterable[str]) -> int | None:
        """The first line from that of ``key`` on that has one of ``words`` in quotation marks; else that of the key."""
        start = self._line(key)
        if start is None:
            return None
        lines = self._text.splitlines()
        quoted = [f"{mark}{word}{mark}" for word in words for mark in "\"'"]
        for number in range(start, len(lines) + 1):
            if any(word in lines[number - 1] for word in quoted):
                return number
        return start

    # Parts

    def _check_keys(self) -> None:
        for key in self._document:
            if key not in KEYS:
                self._add(key, f"unknown key '{key}'{nearest(key, KEYS)}", self._line(key))
        for key in REQUIRED:
            if key not in self._document:
                self._add(key, f"the study has no '{key}'; a study needs {', '.join(REQUIRED[:-1])} and {REQUIRED[-1]}")
        seed = self._document.get("seed", 42)
        if type(seed) is not int or seed < 0:
            self._add("seed", f"seed = {seed!r} must be a whole number of at least 0", self._line("seed"))

    def _protocol(self) -> Protocol | None:
        stated = self._document.get("protocol")
        if stated is None:
            return None
        line = self._line("protocol")
        protocol = self._attempt("protocol", lambda: stated_protocol(stated, self._text, self._path), line)
        if protocol is None and isinstance(stated, Mapping) and isinstance(stated.get("base"), str):
            with suppress(ReproError):  # the rest is checked under the base
                return stated_protocol(stated["base"], self._text, self._path)
        return protocol

    def _measures(self, protocol: Protocol | None) -> list[Measure]:
        stated = self._document.get("metrics")
        if stated is None:
            return []
        under = protocol or Protocol.load("random-5fold")
        names: list[str] = []
        for part in stated if isinstance(stated, list) else [stated]:
            if not isinstance(part, str | Mapping):
                self._add("metrics", f"a metric is text such as ndcg@10, not {part!r}", self._line("metrics"))
                continue
            names += self._attempt("metrics", partial(expanded_metrics, part), self._line("metrics")) or ()
        if not names and not self._of("metrics"):
            self._add("metrics", 'a study needs at least one metric, such as "ndcg@10"', self._line("metrics"))
        measures: dict[str, Measure] = {}
        for name in names:
            line = self._line_with("metrics", (name, name.partition("@")[0]))
            measure = self._attempt("metrics", partial(parse_measure, name, under, metrics()), line)
            if measure is None:
                continue
            if measure.full_name in measures:
                self._add("metrics", f"metric {name} is asked for twice ({measure.full_name})", line)
            measures[measure.full_name], self._metric_lines[measure.full_name] = measure, line
            for note in reading_notes([name]):
                self._add("metrics", note, line, "warning")
        return list(measures.values())

    def _entries(self) -> list[Entry]:
        stated = self._document.get("algorithms")
        if stated is None:
            return []
        if not isinstance(stated, list) or not stated:
            line = self._line("algorithms")
            self._add("algorithms", 'write each algorithm as [[algorithms]] with use = "framework/algorithm"', line)
            return []
        entries: list[Entry] = []
        for number, algorithm in enumerate(stated):
            entries += self._entries_of(number, algorithm)
        labels = [entry.label for entry in entries]
        for label in dict.fromkeys(label for label in labels if labels.count(label) > 1):
            line = self._line_with("algorithms", (label, label.replace(" ", "/", 1)))
            self._add("algorithms", f"two algorithms are labelled '{label}'; give each a label of its own", line)
        baseline = self._document.get("baseline")
        if baseline is not None and entries and baseline not in labels:
            text = f"baseline = {baseline!r} is no algorithm of the study{nearest(str(baseline), labels)}"
            self._add("baseline", f"{text} Labels: {', '.join(labels)}", self._line("baseline"))
        return entries

    def _entries_of(self, number: int, algorithm: Any) -> list[Entry]:
        """The entries of one algorithm of the study; its problems are added, each key and parameter on its own."""
        if not isinstance(algorithm, Mapping):
            return self._read(algorithm, self._line_with("algorithms", (str(algorithm),)))
        known = {key: value for key, value in algorithm.items() if key in ENTRY_KEYS}
        for key in algorithm.keys() - known.keys():
            text = f"unknown key '{key}' in an algorithm{nearest(key, ENTRY_KEYS)}"
            self._add("algorithms", text, self._algorithm_line(number, key))
        parameters = known.get("parameters", {})
        if isinstance(parameters, Mapping) and len(parameters) > 0:
            plain = {key: value for key, value in known.items() if key != "parameters"}
            before = len(self._problems)
            if self._read(plain, self._algorithm_line(number, "use")) and len(self._problems) == before:
                for name, value in parameters.items():
                    self._read({**plain, "parameters": {name: value}}, self._algorithm_line(number, name))
            if len(self._problems) > before:
                return []
        return self._read(known, self._algorithm_line(number, "use"))

    def _read(self, algorithm: Any, line: int | None) -> list[Entry]:
        try:
            entries, left_out = read_entries([algorithm])
        except ReproError as error:
            self._add("algorithms", str(error).replace("\n  ", " "), line)
            return []
        for reason in dict.fromkeys(left_out.values()):
            self._add("algorithms", f"left out: {reason}", line, "warning")
        for name in dict.fromkeys(entry.framework for entry in entries):
            if plugins().location(name) == "missing":
                self._add("algorithms", how_to_install(plugins().framework(name)), line)
        return list(entries)

    def _algorithm_line(self, number: int, key: str) -> int | None:
        """The line of a key, or of a parameter, in the algorithm of that number."""
        lines = self._text.splitlines()
        headers = [place for place, line in enumerate(lines, 1) if re.match(r"\s*\[\[\s*algorithms\s*\]\]", line)]
        if number >= len(headers):
            return self._line("algorithms")
        end = headers[number + 1] - 1 if number + 1 < len(headers) else len(lines)
        for place in range(headers[number], end + 1):
            if re.search(rf"(?<![\w-])[\"']?{re.escape(key)}[\"']?\s*=", lines[place - 1].partition("#")[0]):
                return place
        return headers[number]

    def _check_tuning(self, protocol: Protocol, entries: list[Entry]) -> None:
        stated = self._document.get("tune")
        if stated is None:
            return
        tuning = self._attempt("tune", lambda: read_tuning(stated, protocol), self._line("tune"))
        if tuning is not None and not self._of("algorithms"):
            self._attempt("tune", lambda: with_search_spaces(entries, tuning), self._line("tune"))

    def _of(self, about: str) -> list[Problem]:
        return [problem for problem in self._problems if problem.about == about and problem.severity == "error"]

    # The data, and what it lacks

    def _data(self) -> Interactions | None:
        stated = self._document.get("data")
        if stated is None:
            return None
        name = stated.get("name") if isinstance(stated, Mapping) else stated
        options = {key: value for key, value in stated.items() if key != "name"} if isinstance(stated, Mapping) else {}
        if not isinstance(name, str):
            text = 'data needs the name of a data set or a file: data = "ml-100k"'
            self._add("data", text, self._line("data"))
            return None
        line = self._line_with("data", (name,))
        study = Study.__new__(Study)
        study.data, study.data_options, study.folder = name, options, self._path.parent
        return self._attempt("data", study.interactions, line)

    def _check_data(
        self, source: Interactions, protocol: Protocol, measures: list[Measure], entries: list[Entry]
    ) -> None:
        """Check what protocol and metrics need of the data; then the split, and the lists of its first fold."""
        line = self._line("protocol")
        rule = protocol["relevance.rule"]
        if not source.explicit and rule != "any":
            text = f'relevance.rule = "{rule}" compares ratings, and this data set has none; use relevance.rule = "any"'
            self._add("protocol", text, self._line("protocol.relevance.rule"))
            protocol = protocol.replace({"relevance.rule": "any"})
        elif source.explicit and rule == "any" and float(source.ratings.min()) < float(source.ratings.max()):
            text = (
                f"the data has ratings from {source.ratings.min():g} to {source.ratings.max():g}, and with "
                'relevance.rule = "any" the lowest counts as a success too; relevance.rule = "threshold" with '
                "relevance.threshold counts high ratings alone"
            )
            self._add("protocol", text, line, "warning")
        usable = []
        for measure in measures:
            parts = simple_measures([measure])
            if not source.explicit and any(p.metric.kind == "prediction" or "ratings" in p.needs for p in parts):
                text = f"metric {measure.name} compares ratings, and this data set has none; leave it out"
                self._add("metrics", text, self._metric_lines[measure.full_name])
            else:
                usable.append(measure)
        seed = self._document.get("seed", 42)
        seed = seed if type(seed) is int and seed >= 0 else 42
        try:
            prepare(source, protocol, seed)
        except ReproError as error:
            self._add("data", str(error), self._line("data"))
            if protocol["data.duplicates"] != "error":
                return
            protocol = protocol.replace({"data.duplicates": "first"})
        self._check_plan(source, protocol, usable, entries, seed)

    def _check_plan(
        self, source: Interactions, protocol: Protocol, measures: list[Measure], entries: list[Entry], seed: int
    ) -> None:
        if not entries or not measures:
            return
        named = [entry.document() for entry in {entry.label: entry for entry in entries}.values()]
        stated = self._document.get("data")
        try:
            study = Study(source, protocol, named, [measure.full_name for measure in measures], seed=seed)
            study.folder, study.data_options = self._path.parent, {}
            plan = make_plan(study, to_fit=False)
        except ReproError as error:
            if isinstance(stated, str) and "needs a named data set" in str(error):
                return  # the name is known here, and its features are loaded with the run
            self._add("protocol", str(error), self._line("protocol"))
            return
        fold = fold_data(plan, plan.split.folds[0])
        of_lists = [measure for measure in measures if measure.metric.kind != "prediction"]
        if of_lists and not fold.judge(protocol).relevant.any():
            text = (
                f"none of the {len(fold.test):,} held-out rows of the first fold counts as relevant "
                f'(relevance.rule = "{protocol["relevance.rule"]}"), so that rankings have no number; lower the '
                "threshold, or hold out more"
            )
            self._add("protocol", text, self._line("protocol.relevance.threshold"))
        most = len(fold.candidates(protocol, seed).items)
        for measure in measures:
            if measure.cutoff is not None and measure.cutoff > most:
                text = (
                    f"metric {measure.name}: a list can have at most {most:,} items here, so that a cut-off of "
                    f"{measure.cutoff:,} means the whole list; use a smaller one"
                )
                self._add("metrics", text, self._metric_lines[measure.full_name], "warning")

    def _check_scores(self, measures: list[Measure], entries: list[Entry]) -> None:
        """Algorithms that predict ratings in rankings, and errors of algorithms that predict none."""
        of_ratings = [measure.name for measure in measures if measure.metric.kind == "prediction"]
        of_lists = [measure.name for measure in measures if measure.metric.kind != "prediction"]
        for entry in entries:
            algorithm = plugins().algorithm(entry.use)[1]
            line = self._line_with("algorithms", (entry.use, entry.label, f"*/{entry.use.partition('/')[2]}"))
            if of_ratings and not algorithm.predicts:
                text = f"{entry.label} predicts no ratings, and will have no {', '.join(of_ratings)}"
                hint = "leave it out, or add an algorithm that predicts (`repro algorithms list`)"
                self._add("algorithms", f"{text}; {hint}", line, "warning" if of_lists else "error")
            if of_lists and algorithm.kind_of_scores(entry.parameters) == "ratings":
                text = (
                    f"{entry.label} ranks by predicted ratings, which it fits to be near the ratings and not to put "
                    f"good items first; expect low {', '.join(of_lists)}, and read them as such"
                )
                self._add("algorithms", text, line, "warning")
