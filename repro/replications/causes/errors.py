"""Errors in an evaluation that a table may come from, and the other metrics that may stand under a name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from repro.errors import ProtocolError, ReproError
from repro.evaluation.metrics import Measure, metrics, parse_measure
from repro.explanations.design import Design
from repro.protocol import Protocol, Value, registry
from repro.replications.causes.cause import Kind

FITTED, TUNED = "split.fitted_on", "split.tuned_on"
_RANKED = ("precision", "recall", "hit", "ndcg", "rr", "ap", "f1")
_PREDICTED = ("rmse", "mae", "mse", "nrmse", "nmae")
_UNCUT = ("rr", "ap", "ndcg")
_CUTS = (1, 3, 5, 10, 20, 50, 100)


@dataclass(frozen=True)
class EvaluationError:
    """An error in an evaluation: the decisions that it takes, against what the source states.

    tuned  whether it concerns only tables whose parameters were tuned
    """

    name: str
    changes: Mapping[str, Value]
    kind: Kind = "mistake"
    tuned: bool = False

    @property
    def needs_refit(self) -> bool:
        return any(registry()[decision].needs_refit for decision in self.changes)

    def protocol(self, base: Protocol) -> Protocol | None:
        """The protocol ``base`` with this error; None if it is the same, or if they contradict each other."""
        if all(base.get(key) == value for key, value in self.changes.items()):
            return None
        try:
            made = Design(base, (), 1).protocol(self.changes)
        except ProtocolError:
            return None
        taken = all(made.get(key) == value for key, value in self.changes.items())
        return made if taken and made.hash != base.hash else None


ERRORS = (
    EvaluationError("fitted on all rows, those of the test included", {FITTED: "all"}, "leak"),
    EvaluationError("tuned or stopped on the test part", {TUNED: "test"}, "leak", tuned=True),
    EvaluationError("fitted on training and validation rows", {FITTED: "train+validation"}),
    EvaluationError("fitted on training rows alone, without those of validation", {FITTED: "train"}),
    EvaluationError("training items not excluded from the lists", {"candidates.exclude_train": "none"}),
    EvaluationError("training items excluded from the lists", {"candidates.exclude_train": "all"}),
    EvaluationError("validation items not excluded from the lists", {"candidates.exclude_validation": "no"}),
    EvaluationError("validation items excluded from the lists", {"candidates.exclude_validation": "yes"}),
    EvaluationError("test users without relevant items dropped", {"average.no_relevant": "skip"}),
    EvaluationError("test users without relevant items counted as 0", {"average.no_relevant": "zero"}),
    EvaluationError("test users without relevant items counted as 1", {"average.no_relevant": "one"}),
)


@dataclass(frozen=True)
class OtherMetric:
    """A metric that may stand under the name of another one.

    name   the measure, with its cut-off
    label  what it is, without the cut-off: the same for all cut-offs of a metric
    """

    name: str
    label: str
    measure: Measure = field(compare=False)


def other_metric_named(column: str, other: OtherMetric) -> str:
    """The cause that ``other`` stands in a column, in words."""
    return f"another metric under the name: {column} is {other.name}"


def other_metrics(name: str, protocol: Protocol) -> list[OtherMetric]:
    """The metrics that may be printed under ``name``: other ones, with other variants, or with other cut-offs."""
    known = metrics()
    own = parse_measure(name, protocol, known)
    of_lists = own.metric.kind != "prediction"
    others: dict[str, OtherMetric] = {}
    for written, label in _written(own, _RANKED if of_lists else _PREDICTED):
        try:
            measure = parse_measure(written, protocol, known)
        except ReproError:
            continue
        if measure.full_name != own.full_name:
            others.setdefault(measure.full_name, OtherMetric(written, label, measure))
    return list(others.values())


def _written(own: Measure, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names of measures, each with its label."""
    cut = "" if own.cutoff is None else f"@{own.cutoff}"
    known = metrics()
    for name in dict.fromkeys((own.metric.name, *names)):
        metric = known[name]
        at = "" if metric.cutoff == "none" else cut
        if not at and metric.cutoff == "required":
            continue
        yield name + at, name
        for variant in metric.variants:
            short = variant.id.rpartition(".")[2]
            for value in variant.tried:
                text = f"{name}[{short}={value}]"
                yield text + at, text
        if at and name in _UNCUT:
            yield name, f"{name} of whole lists"
    if own.cutoff is not None:
        for k in _CUTS:
            label = own.full_name.partition("@")[0]
            yield f"{label}@{k}", f"{own.metric.name}@{k}"
