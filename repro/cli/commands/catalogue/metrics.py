"""`repro metrics`: which metrics there are, and what each one means."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

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

    found = list(known().values())
    if as_json:
        print_json([_summary(one) for one in found])
        return
    for kind, title in _KINDS.items():
        rows = [
            [
                one.name + _CUTOFFS[one.cutoff],
                one.title,
                _BETTER[one.better],
                ", ".join(one.variant_ids) or "-",
                ", ".join(one.aliases) or "-",
            ]
            for one in found
            if one.kind == kind
        ]
        columns = ["metric", "what it is", "better", "variants", "also called"]
        print_table(columns, rows, title=title, spare=["better"])
        echo("")
    echo("A name states variants in brackets, ndcg[gain=exp2]@10; others are those of the protocol.")


@metrics.command(epilog="Example: repro metrics show ndcg")
@click.argument("name", shell_complete=complete_metric)
@json_option
def show(name: str, as_json: bool) -> None:
    """What a metric means: formula, variants and who uses which, what it needs, its full name.

    NAME is one of `repro metrics list`; a cut-off or variants in it do not matter here.
    """
    one = _called(name)
    if as_json:
        print_json(_summary(one) | _description(one))
        return
    echo(Styled(one.name), f": {one.title}")
    also = [f"{alias} ({_stated(variants)})" if variants else alias for alias, variants in one.aliases.items()]
    if also:
        echo(f"Also called {', '.join(also)}.")
    echo(f"\n{_explanation(one)}\n")
    for decision in _decisions(one):
        _print_variant(decision)
    for line in _facts(one):
        echo(line)


def _called(text: str) -> Metric:
    """The metric of that name, or of which it is an alias."""
    import re

    from repro.evaluation.metrics import metric_named

    return metric_named(re.split(r"[\[@]", text)[0].strip())


def _summary(one: Metric) -> dict[str, object]:
    return {
        "name": one.name,
        "title": one.title,
        "kind": one.kind,
        "cutoff": one.cutoff,
        "better": one.better,
        "variants": {
            short: _variant(decision) for short, decision in zip(one.variant_ids, _decisions(one), strict=True)
        },
        "aliases": {alias: dict(variants) for alias, variants in one.aliases.items()},
        "needs": list(one.needs),
        "cite": one.cite,
    }


def _variant(one: Decision) -> dict[str, object]:
    return {
        "decision": one.id,
        "question": one.question,
        "default": None if one.required else one.default,
        "allowed": one.allowed(),
        "when": [str(when) for when in one.when],
        "cite": one.cite,
        "options": [
            {"value": o.value, "meaning": o.meaning, "cite": o.cite, "used_by": list(o.used_by)} for o in one.options
        ],
    }


def _description(one: Metric) -> dict[str, object]:
    from repro.evaluation.metrics import RankingMetric

    asked, why_not = _by_default(one)
    bounds = _bounds(one)
    return {
        "explanation": _explanation(one),
        "undefined": one.undefined if isinstance(one, RankingMetric) else None,
        "full_name": asked.full_name if asked else None,
        "range": None if bounds is None else [None if math.isinf(bound) else bound for bound in bounds],
        "objection": why_not or None,
        "example": _example(one),
    }


def _explanation(one: Metric) -> str:
    """The docstring of the metric's module: formula, empty and short lists, where it comes from; of a metric of a
    plug-in, the docstring of its function."""
    import inspect

    from repro.evaluation.metrics.catalogue import own_modules

    source = own_modules().get(one.name) or getattr(one, "compute", None)
    return (inspect.getdoc(source) or "").replace("``", "`")


def _decisions(one: Metric) -> list[Decision]:
    """The decisions that the name can state, in the order of its variants."""
    from repro.protocol import registry

    return [registry()[key] for key in one.variant_ids.values()]


def _stated(variants: object) -> str:
    assert isinstance(variants, dict)
    return ", ".join(f"{key}={value}" for key, value in variants.items())


def _print_variant(one: Decision) -> None:
    short = one.id.rpartition(".")[2]
    echo(Styled(short), f" ({one.id}): {one.question}")
    if not one.options:
        default = "no default: a protocol must state it" if one.required else f"default {one.default}"
        echo(f"  {one.allowed()}; {default}")
    for option in one.options:
        default = " (default)" if option.value == one.default else ""
        notes = [option.cite] if option.cite else []
        if option.used_by:
            notes.append("used by " + ", ".join(option.used_by))
        note = f" [{'; '.join(notes)}]" if notes else ""
        echo(f"  {short}={option.value}{default}: {option.meaning}{note}")
    for when in one.when:
        echo(f"  applies when {when}")
    if one.cite:
        echo(f"  see {one.cite}")
    echo("")


def _facts(one: Metric) -> list[str]:
    from repro.evaluation.metrics.background import HOW_TO_GIVE

    asked, why_not = _by_default(one)
    needs = asked.needs if asked else one.needs
    better = "no direction is better" if one.better == "neither" else f"{one.better} is better"
    cutoff = {"required": "needs a cut-off", "optional": "takes a cut-off", "none": "takes no cut-off"}[one.cutoff]
    return [
        f"In short  {_KINDS[one.kind].lower()}; {cutoff}; {better}{_undefined(one)}",
        f"Range     {_range(one)}",
        *([f"Ties      {_ties(asked)}"] if asked and one.kind != "prediction" else []),
        *[f"Needs     {HOW_TO_GIVE[need]}" for need in needs if need in HOW_TO_GIVE],
        *([f"Source    {one.cite}"] if one.cite else []),
        f"In full   {asked.full_name if asked else why_not}",
        f"Example   {_example(one)}",
    ]


def _undefined(one: Metric) -> str:
    """What a list counts of which the metric has no value."""
    from repro.evaluation.metrics import RankingMetric

    if not isinstance(one, RankingMetric):
        return ""
    if one.undefined == "left-out":
        text = "; a list of which it has nothing to say is left out"
    else:
        text = "; average.no_relevant says what a list without relevant items counts"
    return text + (", average.no_negatives what one without negative items counts" if one.negatives else "")


def _name(one: Metric) -> str:
    return one.name + ("" if one.cutoff == "none" else "@10")


def _by_default(one: Metric, variant: str = "") -> tuple[Measure | None, str]:
    """The metric under the default protocol, but for a variant where one is stated; or why it cannot be asked for."""
    from repro.errors import ProtocolError
    from repro.evaluate import default_protocol
    from repro.evaluation.metrics import metrics as known
    from repro.evaluation.metrics import parse_measure

    name = _name(one).replace(one.name, f"{one.name}[{variant}]") if variant else _name(one)
    try:
        return parse_measure(name, default_protocol(True), known()), ""
    except ProtocolError as error:
        return None, str(error)


def _bounds(one: Metric, variant: str = "") -> tuple[float, float] | None:
    """The range under the default protocol; None where the metric cannot be asked for there."""
    from repro.evaluate import default_protocol

    asked, _ = _by_default(one, variant)
    return asked.range(default_protocol(True)) if asked else None


def _range(one: Metric) -> str:
    """The range by default, and the options that change it."""
    from repro.evaluate import default_protocol

    usual = _bounds(one)
    if usual is None:
        return _between(one.widest_range(default_protocol(True)))
    found = _between(usual) + (f" for {_name(one)}" if callable(one.range) and one.cutoff != "none" else "")
    for decision in one.variants:
        for value in decision.tried:
            stated = f"{decision.id.rpartition('.')[2]}={value}"
            other = _bounds(one, stated)
            if other is not None and other != usual:
                found += f"; with {stated}, {_between(other)}"
    return found


def _ties(asked: Measure) -> str:
    """Whether there is a best and a worst order of tied items."""
    from repro.evaluation.metrics.tie_order import Unaffected

    if isinstance(asked.tie_order, str):
        return f'{asked.name} has no ties.break = "best" or "worst": {asked.tie_order}'
    if isinstance(asked.tie_order, Unaffected):
        return "the order of tied items has no effect"
    return 'exact under ties.break = "best" and "worst"'


def _between(bounds: tuple[float, float]) -> str:
    low, high = bounds
    if math.isinf(low) and math.isinf(high):
        return "any number"
    if math.isinf(high):
        return f"{low:g} and above"
    return f"{high:g} and below" if math.isinf(low) else f"{low:g} to {high:g}"


def _example(one: Metric) -> str:
    options = {"train": " --train train.tsv", "timestamps": " --train train.tsv"}
    options |= {"features": " --features items.csv", "previous": " --previous earlier.tsv"}
    asked, _ = _by_default(one)
    given = "".join(dict.fromkeys(options[need] for need in (asked or one).needs if need in options))
    return f"repro evaluate --run run.tsv --truth test.tsv{given} -m {_name(one)}"
