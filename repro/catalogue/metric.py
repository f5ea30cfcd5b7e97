"""The description of a metric: :class:`Metric` shows its definition, its range, and the variants of its name."""

from __future__ import annotations

import inspect
import math
import re
from html import escape

import pandas as pd

from repro.catalogue.listing import options_of
from repro.errors import ProtocolError
from repro.evaluation.metrics import Measure, RankingMetric, metric_named, parse_measure
from repro.evaluation.metrics import metrics as known_metrics
from repro.evaluation.metrics.background import HOW_TO_GIVE
from repro.evaluation.metrics.catalogue import own_modules
from repro.evaluation.metrics.tie_order import Unaffected
from repro.lists import default_protocol

KINDS = {
    "ranking": "Of each list, averaged over users",
    "collection": "Of all lists together",
    "prediction": "Of predicted ratings",
}
_CUTOFFS = {"required": "needs a cut-off", "optional": "takes a cut-off", "none": "takes no cut-off"}


class Metric:
    """The metric with a name: its formula, range, direction, options and source.

    name  as in a study: ``"ndcg"``, ``"ndcg@10"``, ``"ndcg[gain=exp2]@10"``, or another name of the metric. What the
          name leaves open is as in the default protocol; a metric that has cut-offs is described at 10

    Functions that take the name of a metric take this object in its place, as the name that is given here.

    >>> metric = repro.Metric("ndcg[gain=exp2]@5")
    >>> metric.title, metric.better, metric.range
    ('Normalised discounted cumulative gain', 'higher', (0.0, 1.0))
    >>> metric.formula
    'DCG@k = sum over ranks down to k of gain / discount(rank);  nDCG@k = DCG@k / DCG@k of the ideal list'
    >>> metric.full_name
    'ndcg[discount=log2,gain=exp2,ideal=min]@5'
    >>> metric.options["value"].tolist()[:4]  # of gain, the first option
    ['binary', 'linear', 'exp2', 'exp2-threshold']

    stated     the name as it was given, by which functions compute the metric
    declared   the metric as its author declared it
    measure    the metric with its cut-off and options; None if it is not defined in the default protocol
    objection  why it is not defined there; empty if it is
    """

    def __init__(self, name: str) -> None:
        self.stated = name.strip()
        stem = re.split(r"[\[@]", name)[0].strip()
        try:
            self.declared, alone = metric_named(stem), name.strip() == stem
        except ProtocolError:  # a name with the cut-off in it
            self.declared, alone = parse_measure(name, default_protocol(True), known_metrics()).metric, False
        self.measure: Measure | None
        self.measure, self.objection = self._by_default() if alone else (_parsed(name), "")

    def _by_default(self, option: str = "") -> tuple[Measure | None, str]:
        """The metric, perhaps with an option, under the default protocol; or None, and why there is none."""
        cutoff = "" if self.declared.cutoff == "none" else "@10"
        try:
            return _parsed(self.declared.name + (f"[{option}]" if option else "") + cutoff), ""
        except ProtocolError as error:
            return None, str(error)

    @property
    def name(self) -> str:
        """The short name, with the options that differ from the default protocol."""
        return self.measure.name if self.measure else self.declared.name

    @property
    def full_name(self) -> str | None:
        """The name that states every option; None if the metric is not defined in the default protocol."""
        return self.measure.full_name if self.measure else None

    @property
    def title(self) -> str:
        """The name in words."""
        return self.declared.title

    @property
    def definition(self) -> str:
        """The formula, the options, and what empty and short lists count."""
        source = own_modules().get(self.declared.name) or getattr(self.declared, "compute", None)
        return (inspect.getdoc(source) or "").replace("``", "`")

    @property
    def formula(self) -> str:
        """The formula alone; empty where the author of a plug-in states none."""
        return "\n".join(line.strip() for line in self.definition.splitlines() if line.startswith("    "))

    @property
    def better(self) -> str:
        """The direction of better values: "higher", "lower" or "neither"."""
        return self.declared.better

    @property
    def range(self) -> tuple[float, float] | None:
        """The lowest and the highest possible value, infinite without a bound; None if it is not defined."""
        return self.measure.range(default_protocol(True)) if self.measure else None

    @property
    def range_in_words(self) -> str:
        """The range, and the options that change it."""
        if self.measure is None or self.range is None:
            return _between(self.declared.widest_range(default_protocol(True)))
        text = _between(self.range)
        if callable(self.declared.range) and self.declared.cutoff != "none":
            text += f" for {self.name}"
        for decision in self.declared.variants:
            for value in decision.tried:
                option = f"{decision.id.rpartition('.')[2]}={value}"
                measure, _ = self._by_default(option)
                bounds = measure.range(default_protocol(True)) if measure else None
                if bounds is not None and bounds != self.range:
                    text += f"; with {option}, {_between(bounds)}"
        return text

    @property
    def options(self) -> pd.DataFrame:
        """The options of a name in brackets, such as ``gain=exp2``: a row for each value of each option."""
        ids = self.declared.variant_ids
        table = options_of(list(ids.values()))
        table.insert(0, "option", table["decision"].map({key: short for short, key in ids.items()}))
        return table

    @property
    def aliases(self) -> tuple[str, ...]:
        """The other names of the metric."""
        return tuple(self.declared.aliases)

    @property
    def needs(self) -> tuple[str, ...]:
        """The inputs that the metric needs besides lists and held-out rows, and how to give them."""
        needs = (self.measure or self.declared).needs
        return tuple(HOW_TO_GIVE[need] for need in needs if need in HOW_TO_GIVE)

    @property
    def citation(self) -> str:
        """The publication that the metric comes from."""
        return self.declared.cite

    def facts(self) -> dict[str, list[str]]:
        """Notes besides the definition, as sentences by topic."""
        declared = self.declared
        better = "no direction is better" if self.better == "neither" else f"{self.better} is better"
        facts = {
            "Shows": [declared.shows],
            "Task": [declared.suits],
            "In short": [f"{KINDS[declared.kind].lower()}; {_CUTOFFS[declared.cutoff]}; {better}{self._undefined()}"],
            "Range": [self.range_in_words],
            "Ties": [self._ties()],
            "Needs": list(self.needs),
            "Source": [self.citation],
            "In full": [self.full_name or self.objection],
        }
        present = {topic: [sentence for sentence in sentences if sentence] for topic, sentences in facts.items()}
        return {topic: sentences for topic, sentences in present.items() if sentences}

    def _undefined(self) -> str:
        """The rule for lists without a value of the metric."""
        if not isinstance(self.declared, RankingMetric):
            return ""
        if self.declared.undefined == "left-out":
            text = "; a list without a value is left out"
        else:
            text = "; average.no_relevant says what a list without relevant items counts"
        return text + (
            ", average.no_negatives what one without negative items counts" if self.declared.negatives else ""
        )

    def _ties(self) -> str:
        """Whether there is a best and a worst order of tied items."""
        if self.measure is None or self.declared.kind == "prediction":
            return ""
        if isinstance(self.measure.tie_order, str):
            return f'{self.measure.name} has no ties.break = "best" or "worst": {self.measure.tie_order}'
        if isinstance(self.measure.tie_order, Unaffected):
            return "the order of tied items has no effect"
        return 'exact under ties.break = "best" and "worst"'

    def __repr__(self) -> str:
        lines = [f"{topic:<8}  {sentence}" for topic, sentences in self.facts().items() for sentence in sentences]
        formula = [f"  {line}" for line in self.formula.splitlines()]
        return "\n".join([f"{self.name}: {self.title}", *formula, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(topic)}</th><td style='text-align:left'>"
            f"{'<br>'.join(map(escape, sentences))}</td></tr>"
            for topic, sentences in self.facts().items()
        )
        formula = f"<pre>{escape(self.formula)}</pre>" if self.formula else ""
        return f"<p><b>{escape(self.name)}</b>: {escape(self.title)}</p>{formula}<table>{rows}</table>"


def _parsed(name: str) -> Measure:
    return parse_measure(name, default_protocol(True), known_metrics())


def _between(bounds: tuple[float, float]) -> str:
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return "any number"
    if math.isinf(high):
        return f"{low:g} and above"
    return f"{high:g} and below" if math.isinf(low) else f"{low:g} to {high:g}"
