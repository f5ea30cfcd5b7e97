"""`repro metrics`: list metrics and show their definitions."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import click

from repro.cli.decision_text import plain_decision, print_decision
from repro.cli.options.protocol_options import complete_metric
from repro.cli.output import Styled, echo, json_option, print_json, print_table

if TYPE_CHECKING:
    from repro.evaluation.metrics import Measure, Metric
    from repro.protocol import Decision

_KINDS = {
    "ranking": "Of each list, averaged over users",
    "collection": "Of all lists together",
    "prediction": "Of predicted ratings",
}
_BETTER = {"higher": "higher", "lower": "lower", "neither": "-"}
_CUTOFFS = {"required": "@k", "optional": "[@k]", "none": ""}


@click.group(epilog="Example: repro metrics show ndcg")
def metrics() -> None:
    """List the metrics, and show how each one is defined."""


@metrics.command("list", epilog="Example: repro metrics list --json")
@json_option
def list_metrics(as_json: bool) -> None:
    """The metrics, with the variants that their names can state."""
    from repro.evaluation.metrics import metrics as known

    if as_json:
        print_json([_summary(metric) for metric in known().values()])
        return
    for kind, title in _KINDS.items():
        rows = [
            [
                metric.name + _CUTOFFS[metric.cutoff],
                metric.title,
                _BETTER[metric.better],
                ", ".join(metric.variant_ids) or "-",
                ", ".join(metric.aliases) or "-",
            ]
            for metric in known().values()
            if metric.kind == kind
        ]
        columns = ["metric", "what it is", "better", "variants", "also called"]
        print_table(columns, rows, title=title, spare=["better"])
        echo("")
    echo("A name states variants in brackets, ndcg[gain=exp2]@10; others are those of the protocol.")


@metrics.command(epilog="Example: repro metrics show ndcg")
@click.argument("name", shell_complete=complete_metric)
@json_option
def show(name: str, as_json: bool) -> None:
    """The definition of a metric: formula, variants and who uses which, what it needs, its full name.

    NAME is one of `repro metrics list`; a cut-off or variants in it have no effect here.
    """
    from repro.evaluation.metrics import metric_named

    metric = metric_named(re.split(r"[\[@]", name)[0].strip())
    if as_json:
        print_json(_summary(metric) | _description(metric))
        return
    echo(Styled(metric.name), f": {metric.title}")
    aliases = [
        f"{alias} ({', '.join(f'{key}={value}' for key, value in variants.items())})" if variants else alias
        for alias, variants in metric.aliases.items()
    ]
    if aliases:
        echo(f"Also called {', '.join(aliases)}.")
    echo(f"\n{_explanation(metric)}\n")
    for short, decision in _variants(metric).items():
        print_decision(decision, Styled(short), f" ({decision.id})", prefix=f"{short}=")
    for line in _facts(metric):
        echo(line)


def _variants(metric: Metric) -> dict[str, Decision]:
    """The decisions that the name of a metric can state, by their short names."""
    from repro.protocol import registry

    return {short: registry()[key] for short, key in metric.variant_ids.items()}


def _summary(metric: Metric) -> dict[str, object]:
    variants = {
        short: {"decision": decision.id, **plain_decision(decision)} for short, decision in _variants(metric).items()
    }
    names = ("name", "title", "kind", "task", "shows", "cutoff", "better", "needs", "cite")
    aliases = {alias: dict(variants) for alias, variants in metric.aliases.items()}
    return {name: getattr(metric, name) for name in names} | {"variants": variants, "aliases": aliases}


def _description(metric: Metric) -> dict[str, object]:
    measure, problem = _by_default(metric)
    bounds = _bounds(metric)
    return {
        "explanation": _explanation(metric),
        "undefined": getattr(metric, "undefined", None),
        "full_name": measure.full_name if measure else None,
        "range": None if bounds is None else [None if math.isinf(bound) else bound for bound in bounds],
        "objection": problem or None,
        "example": _example(metric),
    }


def _explanation(metric: Metric) -> str:
    """The docstring of the metric's module, or of the function of a plug-in's metric."""
    import inspect

    from repro.evaluation.metrics.catalogue import own_modules

    source = own_modules().get(metric.name) or getattr(metric, "compute", None)
    return (inspect.getdoc(source) or "").replace("``", "`")


def _facts(metric: Metric) -> list[str]:
    from repro.evaluation.metrics.background import HOW_TO_GIVE

    measure, problem = _by_default(metric)
    better = "no direction is better" if metric.better == "neither" else f"{metric.better} is better"
    cutoff = {"required": "needs a cut-off", "optional": "takes a cut-off", "none": "takes no cut-off"}[metric.cutoff]
    return [
        *([f"Shows     {metric.shows}"] if metric.shows else []),
        *([f"Task      {metric.suits}"] if metric.task else []),
        f"In short  {_KINDS[metric.kind].lower()}; {cutoff}; {better}{_undefined(metric)}",
        f"Range     {_range(metric)}",
        *([f"Ties      {_ties(measure)}"] if measure and metric.kind != "prediction" else []),
        *[f"Needs     {HOW_TO_GIVE[need]}" for need in (measure or metric).needs if need in HOW_TO_GIVE],
        *([f"Source    {metric.cite}"] if metric.cite else []),
        f"In full   {measure.full_name if measure else problem}",
        f"Example   {_example(metric)}",
    ]


def _undefined(metric: Metric) -> str:
    """How lists without a value of the metric count."""
    from repro.evaluation.metrics import RankingMetric

    if not isinstance(metric, RankingMetric):
        return ""
    if metric.undefined == "left-out":
        text = "; a list without a value is left out"
    else:
        text = "; average.no_relevant says what a list without relevant items counts"
    return text + (", average.no_negatives what one without negative items counts" if metric.negatives else "")


def _by_default(metric: Metric, variant: str = "") -> tuple[Measure | None, str]:
    """The metric (or its ``variant``) under the default protocol; or None, and why there is none."""
    from repro.errors import ProtocolError
    from repro.evaluation.metrics import metrics as known
    from repro.evaluation.metrics import parse_measure
    from repro.lists import default_protocol

    name = metric.name + (f"[{variant}]" if variant else "") + _cutoff(metric)
    try:
        return parse_measure(name, default_protocol(True), known()), ""
    except ProtocolError as error:
        return None, str(error)


def _cutoff(metric: Metric) -> str:
    return "" if metric.cutoff == "none" else "@10"


def _bounds(metric: Metric, variant: str = "") -> tuple[float, float] | None:
    """The range under the default protocol; None if the metric is not defined there."""
    from repro.lists import default_protocol

    measure, _ = _by_default(metric, variant)
    return measure.range(default_protocol(True)) if measure else None


def _range(metric: Metric) -> str:
    """The range by default, and the options that change it."""
    from repro.lists import default_protocol

    usual = _bounds(metric)
    if usual is None:
        return _between(metric.widest_range(default_protocol(True)))
    text = _between(usual)
    if callable(metric.range) and metric.cutoff != "none":
        text += f" for {metric.name}{_cutoff(metric)}"
    for decision in metric.variants:
        for value in decision.tried:
            variant = f"{decision.id.rpartition('.')[2]}={value}"
            bounds = _bounds(metric, variant)
            if bounds is not None and bounds != usual:
                text += f"; with {variant}, {_between(bounds)}"
    return text


def _ties(measure: Measure) -> str:
    """Whether there is a best and a worst order of tied items."""
    from repro.evaluation.metrics.tie_order import Unaffected

    if isinstance(measure.tie_order, str):
        return f'{measure.name} has no ties.break = "best" or "worst": {measure.tie_order}'
    if isinstance(measure.tie_order, Unaffected):
        return "the order of tied items has no effect"
    return 'exact under ties.break = "best" and "worst"'


def _between(bounds: tuple[float, float]) -> str:
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return "any number"
    if math.isinf(high):
        return f"{low:g} and above"
    return f"{high:g} and below" if math.isinf(low) else f"{low:g} to {high:g}"


def _example(metric: Metric) -> str:
    options = {"train": " --train train.tsv", "timestamps": " --train train.tsv"}
    options |= {"features": " --features items.csv", "previous": " --previous earlier.tsv"}
    measure, _ = _by_default(metric)
    needed = "".join(dict.fromkeys(options[need] for need in (measure or metric).needs if need in options))
    return f"repro evaluate --run run.tsv --truth test.tsv{needed} -m {metric.name}{_cutoff(metric)}"
