"""`repro metrics`: list metrics and show their definitions."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import click

from repro.cli.decision_text import plain_decision, print_decision
from repro.cli.help_text import Group
from repro.cli.options.protocol_options import complete_metric
from repro.cli.output import Styled, echo, json_option, print_json, print_table

if TYPE_CHECKING:
    from repro.catalogue import Metric as Described
    from repro.evaluation.metrics import Metric
    from repro.protocol import Decision

_BETTER = {"higher": "higher", "lower": "lower", "neither": "-"}
_CUTOFFS = {"required": "@k", "optional": "[@k]", "none": ""}


@click.group(cls=Group, epilog="Example: repro metrics show ndcg")
def metrics() -> None:
    """List the metrics, and show how each one is defined."""


@metrics.command("list", epilog="Example: repro metrics list --json")
@json_option
def list_metrics(as_json: bool) -> None:
    """The metrics, with the variants that their names can state."""
    from repro.catalogue.metric import KINDS
    from repro.evaluation.metrics import metrics as known

    if as_json:
        print_json([_summary(metric) for metric in known().values()])
        return
    for kind, title in KINDS.items():
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
    echo("Names are also understood as people write them: P@10, nDCG@10, MAP@10, Hit_Rate@10, ndcg_cut_10.")


@metrics.command(epilog="Example: repro metrics show ndcg")
@click.argument("name", shell_complete=complete_metric)
@json_option
def show(name: str, as_json: bool) -> None:
    """The definition of a metric: formula, variants and who uses which, what it needs, its full name.

    NAME is one of `repro metrics list`; a cut-off or variants in it have no effect here.
    """
    from repro.catalogue import Metric

    described = Metric(re.split(r"[\[@]", name)[0].strip())
    metric = described.declared
    if as_json:
        print_json(_summary(metric) | _description(described))
        return
    echo(Styled(metric.name), f": {metric.title}")
    aliases = [
        f"{alias} ({', '.join(f'{key}={value}' for key, value in variants.items())})" if variants else alias
        for alias, variants in metric.aliases.items()
    ]
    if aliases:
        echo(f"Also called {', '.join(aliases)}.")
    if metric.ambiguity:
        echo(f"Under these names here: {metric.ambiguity}")
    echo(f"\n{described.definition}\n")
    for short, decision in _variants(metric).items():
        print_decision(decision, Styled(short), f" ({decision.id})", prefix=f"{short}=")
    for topic, sentences in described.facts().items():
        for sentence in sentences:
            echo(f"{topic:<8}  {sentence}")
    echo(f"{'Example':<8}  {_example(described)}")


def _variants(metric: Metric) -> dict[str, Decision]:
    """The decisions that the name of a metric can state, by their short names."""
    from repro.protocol import registry

    return {short: registry()[key] for short, key in metric.variant_ids.items()}


def _summary(metric: Metric) -> dict[str, object]:
    variants = {
        short: {"decision": decision.id, **plain_decision(decision)} for short, decision in _variants(metric).items()
    }
    names = ("name", "title", "kind", "task", "shows", "cutoff", "better", "needs", "cite", "ambiguity")
    aliases = {alias: dict(variants) for alias, variants in metric.aliases.items()}
    return {name: getattr(metric, name) for name in names} | {"variants": variants, "aliases": aliases}


def _description(described: Described) -> dict[str, object]:
    bounds = described.range
    return {
        "explanation": described.definition,
        "undefined": getattr(described.declared, "undefined", None),
        "full_name": described.full_name,
        "range": None if bounds is None else [None if math.isinf(bound) else bound for bound in bounds],
        "objection": described.objection or None,
        "example": _example(described),
    }


def _example(described: Described) -> str:
    options = {"train": " --train train.tsv", "timestamps": " --train train.tsv"}
    options |= {"features": " --features items.csv", "previous": " --previous earlier.tsv"}
    needs = (described.measure or described.declared).needs
    needed = "".join(dict.fromkeys(options[need] for need in needs if need in options))
    name = described.declared.name + ("" if described.declared.cutoff == "none" else "@10")
    return f"repro evaluate --run run.tsv --truth test.tsv{needed} -m {name}"
