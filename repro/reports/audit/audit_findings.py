"""The surprising results of an audit, the gravest first; a finding may cover many measures of a framework."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from repro.audits.campaign.audit_results import AuditResults, options_of
from repro.audits.examination.inference import as_exact
from repro.audits.questions.question import Question
from repro.current import once
from repro.evaluation.metrics import RankingMetric, metrics_by_any_name
from repro.lists import default_protocol
from repro.protocol import Value, registry, toml_value
from repro.runs.journal.audit_events import CaseEntry, MeasureInferred, MetricCompared, PairEntry, UnexplainedEntry

OUTSIDE = "outside the range"
RANDOM = "random"
ORDER = "order of rows"
UNEXPLAINED = "unexplained"
ROUNDED = "rounded"
SAME_NAME = "one name, two numbers"
UNUSUAL = "unusual"
KINDS = (OUTSIDE, RANDOM, ORDER, UNEXPLAINED, ROUNDED, SAME_NAME, UNUSUAL)

_NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]?\d+)?")
_TOLERANCE = 1e-9
_TOGETHER = "everything together"


@dataclass(frozen=True)
class Shown:
    """A case to be read, and who gives which number to it."""

    question: str
    answers: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Finding:
    """Something surprising: of what kind, about what, in a sentence, of which measures, and the smallest case of it."""

    kind: str
    topic: str
    sentence: str
    measures: tuple[str, ...]
    case: Shown | None = None
    rank: tuple[float, ...] = ()

    @property
    def who(self) -> str:
        """The measures, those of an evaluator together."""
        return named(self.measures)


def findings_of(results: AuditResults) -> list[Finding]:
    """All findings, the gravest first; of one kind that first which is about most measures."""
    findings = [
        *_unexplained(results),
        *_refused(results),
        *_unstable(results),
        *_rounded(results),
        *_same_name(results.compared),
        *_unusual(results),
    ]
    return sorted(
        findings,
        key=lambda finding: (KINDS.index(finding.kind), finding.rank, -len(finding.measures), finding.measures),
    )


def named(measures: Iterable[str]) -> str:
    """Measures as text: ``implicit/functions_at_k: ndcg_at_k, AUC_at_k``."""
    by_evaluator: dict[str, list[str]] = {}
    for name in measures:
        evaluator, _, measure = name.partition(" ")
        by_evaluator.setdefault(evaluator, []).append(measure)
    return "; ".join(f"{evaluator}: {', '.join(names)}" for evaluator, names in by_evaluator.items())


def case_text(case: CaseEntry) -> str:
    """A case in lines."""
    return Question.from_dict(case.model_dump()).to_text()


def framework(name: str) -> str:
    return name.partition("/")[0]


def outside(metric: str, answer: str) -> float:
    """The distance of an answer from the range of all variants of the metric, where every item has its own rank."""
    if answer.startswith("an error"):
        return 0.0
    low, high = _widest_range(metric)
    most = max((max(low - number, number - high) for number in map(float, _NUMBER.findall(answer))), default=0.0)
    return most if most > _TOLERANCE else 0.0


@once
def _widest_range(name: str) -> tuple[float, float]:
    """The range of a metric over its variants; of one that is not known here, no bound."""
    metric = metrics_by_any_name().get(name)
    if metric is None:
        return -math.inf, math.inf
    low, high = metric.widest_range(default_protocol(True))
    if isinstance(metric, RankingMetric) and metric.undefined == "no-relevant":
        # A user without relevant items may count 0 or 1.
        return min(low, 0.0), max(high, 1.0)
    return low, high


def _unexplained(results: AuditResults) -> Iterator[Finding]:
    """The cases that no policy explains, by framework and aspect; one with a number outside its range is preferred."""
    groups: dict[tuple[str, str], list[tuple[MeasureInferred, UnexplainedEntry]]] = {}
    for name, event in results.inferred.items():
        for entry in event.unexplained:
            groups.setdefault((framework(name), entry.aspect), []).append((event, entry))
    for (_, aspect), group in groups.items():
        event, entry = min(group, key=lambda pair: (-outside(pair[0].metric, pair[1].said), _size(pair[1].case)))
        is_outside = outside(event.metric, entry.said) > 0
        measure = event.name.partition(" ")[2]
        sentence = (
            f"{measure} says {entry.said}, which no {event.metric} can be"
            if is_outside
            else f"{measure} says {entry.said} where the closest policy says {entry.would_say}"
        )
        answers = ((f"{event.name} said", entry.said), ("the closest policy says", entry.would_say))
        yield Finding(
            OUTSIDE if is_outside else UNEXPLAINED,
            aspect,
            sentence,
            tuple(event.name for event, _ in group),
            Shown(case_text(entry.case), answers),
            (float(aspect == _TOGETHER),),
        )


def _refused(results: AuditResults) -> Iterator[Finding]:
    """Measures that answer nothing, by framework and by what they say."""
    groups: dict[tuple[str, str, str], list[MeasureInferred]] = {}
    for name, event in results.inferred.items():
        if event.refused and not event.holds and not event.unexplained:
            groups.setdefault((framework(name), event.refused[0].aspect, event.refused[0].message), []).append(event)
    for (_, aspect, message), group in groups.items():
        case = Shown(case_text(group[0].refused[0].case), ())
        yield Finding(UNEXPLAINED, aspect, f"refused: {message}", tuple(event.name for event in group), case)


def _size(case: CaseEntry) -> int:
    return Question.from_dict(case.model_dump()).size


def _unstable(results: AuditResults) -> Iterator[Finding]:
    groups: dict[tuple[str, str, str], list[str]] = {}
    cases: dict[tuple[str, str, str], Shown] = {}
    for name, event in results.inferred.items():
        for entry in event.unstable:
            key = framework(name), entry.kind, entry.aspect
            groups.setdefault(key, []).append(name)
            cases.setdefault(key, Shown(case_text(entry.case), tuple(("said", answer) for answer in entry.answers)))
    for (where, kind, aspect), names in groups.items():
        if kind == "random":
            sentence = "the same question gets other answers each time"
        else:
            sentence = "the same rows in another order get another answer"
        yield Finding(RANDOM if kind == "random" else ORDER, aspect, sentence, tuple(names), cases[where, kind, aspect])


def _rounded(results: AuditResults) -> Iterator[Finding]:
    groups: dict[tuple[str, int], list[str]] = {}
    for name, event in results.inferred.items():
        if event.decimals is not None:
            groups.setdefault((framework(name), event.decimals), []).append(name)
    for (_, decimals), names in groups.items():
        topic = as_exact(decimals).removeprefix(", ")
        yield Finding(ROUNDED, topic, "answers have no more digits than that", tuple(names))


def _same_name(compared: Sequence[MetricCompared]) -> Iterator[Finding]:
    """Measures of one name in one framework that are not the same: by evaluators and by what explains it."""
    groups: dict[tuple[str, str, tuple[str, ...]], list[tuple[MetricCompared, PairEntry]]] = {}
    for event in compared:
        for pair in event.pairs:
            (first, _, measure), (second, _, other) = pair.first.partition(" "), pair.second.partition(" ")
            if pair.verdict == "differ" and framework(first) == framework(second) and measure == other:
                why = tuple(choice.decision for choice in pair.choices) or _kind(event, pair)
                groups.setdefault((first, second, why), []).append((event, pair))
    for (first, second, why), pairs in groups.items():
        event, pair = min(pairs, key=lambda candidate: _pair_size(*candidate))
        measures = tuple(name for _, pair in pairs for name in (pair.first, pair.second))
        sentence = f"{first} and {second} give different numbers under one name"
        case = answered(event, pair, (pair.first, pair.second))
        yield Finding(SAME_NAME, ", ".join(why), sentence, tuple(sorted(measures)), case)


def _kind(event: MetricCompared, pair: PairEntry) -> tuple[str, ...]:
    return () if pair.case is None else (event.cases[pair.case].kind,)


def _pair_size(event: MetricCompared, pair: PairEntry) -> int:
    return 0 if pair.case is None else _size(event.cases[pair.case].case)


def answered(event: MetricCompared, pair: PairEntry, names: Sequence[str]) -> Shown | None:
    """The smallest case of a pair, with the answers of these."""
    if pair.case is None:
        return None
    case = event.cases[pair.case]
    answers = tuple((name, case.answers[name]) for name in names if name in case.answers)
    return Shown(case_text(case.case), answers)


def _unusual(results: AuditResults) -> Iterator[Finding]:
    """Options that are not the default, and that fewer frameworks take than another one."""
    decisions = registry()
    for decision, options in taken(results.inferred.values()).items():
        frameworks = {value: {framework(name) for name in names} for value, names in options.items()}
        most = max(frameworks, key=lambda value: len(frameworks[value]))
        total = len(set().union(*frameworks.values()))
        for value, names in options.items():
            few = len(frameworks[value])
            if value in (most, decisions[decision].default) or few == len(frameworks[most]):
                continue
            meaning = decisions[decision].meaning(value)
            question = decisions[decision].question.rstrip()
            has_option = decisions[decision].option(value)
            answer = f"{question} {meaning[0].upper()}{meaning[1:]}. " if has_option else f"{question} "
            sentence = f"{answer}So do {few} of {total} frameworks; most take {toml_value(most)}"
            case = _shown_by_a_pair(results.compared, decision, value, set(names))
            topic = f"{decision} = {toml_value(value)}"
            yield Finding(UNUSUAL, topic, sentence, tuple(names), case, (few / total,))


def taken(inferred: Iterable[MeasureInferred]) -> dict[str, dict[Value, list[str]]]:
    """For each decision, in the order of the registry, the options that are taken, and by which measures.

    Measures with several equivalent options are not counted.
    """
    measures: dict[str, dict[Value, list[str]]] = {key: {} for key in registry()}
    for event in inferred:
        for key in event.policy:
            options = options_of(event, key)
            if len(options) == 1:
                measures[key].setdefault(options[0], []).append(event.name)
    return {key: by_option for key, by_option in measures.items() if by_option}


def _shown_by_a_pair(compared: Sequence[MetricCompared], decision: str, value: Value, names: set[str]) -> Shown | None:
    """The smallest case in which an option explains why one of these measures differs from another one."""
    candidates = [
        (len(pair.choices), _pair_size(event, pair), position, event, pair)
        for event in compared
        for position, pair in enumerate(event.pairs)
        for choice in pair.choices
        if choice.decision == decision
        and ((pair.first in names and choice.first == value) or (pair.second in names and choice.second == value))
    ]
    if not candidates:
        return None
    *_, event, pair = min(candidates, key=lambda candidate: candidate[:3])
    return answered(event, pair, (pair.first, pair.second))
