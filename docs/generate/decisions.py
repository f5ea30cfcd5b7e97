"""The pages about decisions, metrics and protocols, made from their declarations."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping

from click.testing import CliRunner
from tables import code, escaped, fence, table, toctree

from repro.cli import cli
from repro.evaluation.metrics import Metric, metrics, own_name
from repro.evaluation.metrics.catalogue import own_modules
from repro.protocol import Decision, Protocol, protocol_names, read_protocol, registry

FAMILIES = {
    "data": ("Data", "Which rows of the data count, before they are split."),
    "relevance": ("Relevance", "Which held-out items count as a success."),
    "split": ("Split", "Which rows an algorithm learns from, and which are held out."),
    "candidates": ("Candidates", "Which items a list ranks."),
    "missing": ("Missing scores", "What it means that an algorithm has no score for an item."),
    "scores": ("Scores", "What is done to scores before items are ranked by them."),
    "ties": ("Ties", "In which order items with equal scores come."),
    "average": ("Averages", "Which users, lists and folds are averaged, and how."),
    "predict": ("Predicted ratings", "Which predictions an error is computed from."),
}
KINDS = {
    "ranking": "Metrics of each list, averaged over users",
    "collection": "Metrics of all lists together",
    "prediction": "Metrics of predicted ratings",
}


def reference(decision: Decision) -> str:
    """A decision: its question, what may be answered, and when it applies."""
    default = "a protocol must state it" if decision.required else f"default {code(decision.default)}"
    lines = [f"{escaped(decision.question)} ({default})", ""]
    if decision.options:
        rows = [
            (code(option.value), escaped(option.meaning), _notes(decision, option.value)) for option in decision.options
        ]
        lines += [table(("option", "meaning", ""), rows)]
    else:
        lines += [f"Allowed: {escaped(decision.allowed())}.", ""]
    if decision.when:
        lines += [f"Applies when {' and '.join(code(condition) for condition in decision.when)}.", ""]
    if decision.cite:
        lines += [f"See {escaped(decision.cite)}.", ""]
    return "\n".join(lines)


def _notes(decision: Decision, value: str) -> str:
    option = decision.option(value)
    assert option is not None
    notes = ["default"] if value == decision.default else []
    notes += [escaped(option.cite)] if option.cite else []
    notes += [f"used by {', '.join(option.used_by)}"] if option.used_by else []
    notes += (
        [f"short for {', '.join(code(f'{key} = {to}') for key, to in option.means.items())}"] if option.means else []
    )
    notes += [f"when {' and '.join(code(condition) for condition in option.when)}"] if option.when else []
    return "; ".join(notes)


def decision_pages() -> dict[str, str]:
    """A page for each family of decisions, and one that lists them all."""
    known = registry()
    pages = {}
    rows = []
    for family, (title, summary) in FAMILIES.items():
        lines = [f"# {title}: `{family}.*`", "", summary, "", f"[Why each of them exists](../../why/{family}.md).", ""]
        for decision in known.family(family):
            lines += [f"## {decision.id}", "", reference(decision)]
            address = f"{family}.md#{anchor(decision.id)}"
            default = "" if decision.required else code(decision.default)
            rows.append((f"[{decision.id}]({address})", escaped(decision.question), default))
        pages[f"reference/decisions/{family}.md"] = "\n".join(lines)
    lines = [
        "# Decisions",
        "",
        f"A protocol answers these {len(rows)} questions, and those about the variants of "
        "[metrics](../metrics/index.md). A decision without a default must be stated. `repro protocol explain` prints "
        "this reference, and `repro protocol schema` gives editors a JSON Schema of protocol files.",
        "",
        table(("decision", "question", "default"), rows),
    ]
    lines += [toctree(f"{family}.md" for family in FAMILIES)]
    return {"reference/decisions/index.md": "\n".join(lines), **pages}


def anchor(name: str) -> str:
    """The anchor of a heading, as Markdown makes it."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", name).strip().lower())


def printed(*arguments: str) -> str:
    """The output of a command."""
    result = CliRunner(env={"COLUMNS": "110"}).invoke(cli, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def metric_pages() -> dict[str, str]:
    """A page for each metric, and one that lists them all."""
    lines = [
        "# Metrics",
        "",
        "A name takes a cut-off after `@`, and variants in brackets: `ndcg[gain=exp2]@10`. Variants that a name does "
        "not state are those of the protocol. `repro metrics show` prints these pages.",
        "",
    ]
    pages = {}
    for kind, title in KINDS.items():
        of_kind = [metric for metric in metrics().values() if metric.kind == kind]
        rows = [
            (f"[{metric.name}]({metric.name}.md){_cutoff(metric)}", metric.title, metric.better, _names(metric))
            for metric in of_kind
        ]
        lines += [f"## {title}", "", table(("metric", "what it is", "better", "also called"), rows)]
        pages |= {f"reference/metrics/{metric.name}.md": _metric_page(metric) for metric in of_kind}
    lines += ["## How names are read", "", *_names_as_people_write_them()]
    lines += [toctree(sorted(f"{name}.md" for name in metrics()))]
    return {"reference/metrics/index.md": "\n".join(lines), **pages}


def _names_as_people_write_them() -> list[str]:
    examples = [
        (code(name), code(own_name(name))) for name in ("P@10", "nDCG@5", "Hit_Rate@10", "ndcg_cut_20", "URMSE")
    ]
    several = [
        (", ".join(map(code, metric.aliases)), f"[{metric.name}]({metric.name}.md)", escaped(metric.ambiguity))
        for metric in metrics().values()
        if metric.ambiguity
    ]
    return [
        "Capitals, hyphens and underscores make no difference, and reports have the name that is used here:",
        "",
        table(("written", "read as"), examples),
        "These names have several definitions in the literature. They are read as below, and a note says so whenever "
        "one of them is used:",
        "",
        table(("written", "read as", "which is"), several),
    ]


def _cutoff(metric: Metric) -> str:
    return {"required": "@k", "optional": " (@k)", "none": ""}[metric.cutoff]


def _names(metric: Metric) -> str:
    return ", ".join(code(alias) for alias in metric.aliases)


def _metric_page(metric: Metric) -> str:
    source = own_modules().get(metric.name) or getattr(metric, "compute", None)
    lines = [f"# {metric.name}", "", f"{metric.title}.", ""]
    if metric.aliases:
        definitions = f" Under these names here: {escaped(metric.ambiguity)}" if metric.ambiguity else ""
        lines += [f"Also called {_names(metric)}.{definitions}", ""]
    lines += [_prose(inspect.getdoc(source) or ""), ""]
    variants = {short: registry()[key] for short, key in metric.variant_ids.items()}
    if variants:
        lines += ["## Variants", ""]
    for short, decision in variants.items():
        lines += [f"### {short} (`{decision.id}`)", "", reference(decision)]
    facts = printed("metrics", "show", metric.name).partition("\nIn short")[2]
    lines += ["## In short", "", fence("In short" + facts)]
    return "\n".join(lines)


def _prose(docstring: str) -> str:
    """The docstring of a metric: paragraphs, and formulas, which are indented."""
    blocks = [escaped(block) if not block.startswith("    ") else block for block in docstring.split("\n\n")]
    return "\n\n".join(block.replace("\n    ", "\n\n    ", 1) if _ends_in_formula(block) else block for block in blocks)


def _ends_in_formula(block: str) -> bool:
    return not block.startswith("    ") and "\n    " in block


def protocol_pages() -> dict[str, str]:
    """A page for each protocol of the literature, and a table of those of evaluators."""
    names = [name for name in protocol_names() if "/" not in name]
    others: dict[str, list[str]] = {}
    for name in protocol_names():
        if "/" in name:
            others.setdefault(name.partition("/")[0], []).append(name)
    rows = []
    pages = {}
    for name in names:
        protocol = read_protocol(name)
        left_open = ", ".join(map(code, protocol.open)) or "–"
        rows.append((f"[{name}]({name}.md)", escaped(protocol.title), left_open, code(protocol.hash[:12])))
        pages[f"reference/protocols/{name}.md"] = _protocol_page(name, protocol)
    lines = [
        "# Protocols",
        "",
        'Each protocol can be the base of a study: `base = "random-5fold"`. The hash is the same for every protocol '
        "with the same meaning.",
        "",
        table(("protocol", "what it is", "left open by its source", "hash"), rows),
    ]
    for group, members in others.items():
        lines += [f"## {group}/", "", f"{len(members)} more, which `repro protocol list {group}` describes.", ""]
        lines += [table(("protocol", "hash"), _short(members))]
    lines += [toctree(f"{name}.md" for name in names)]
    return {"reference/protocols/index.md": "\n".join(lines), **pages}


def _short(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(code(name), code(read_protocol(name).hash[:12])) for name in names]


def _protocol_page(name: str, protocol: Protocol) -> str:
    families: Mapping[str, Callable[[str], bool]] = {
        "Stated": lambda key: protocol.origins[key] != "default",
        "By default": lambda key: protocol.origins[key] == "default",
    }
    lines = [f"# {name}", "", f"{escaped(protocol.title)}.", ""]
    lines += [f"**Source:** {escaped(protocol.source)}", ""] if protocol.source else []
    lines += [escaped(protocol.notes), ""] if protocol.notes else []
    if protocol.open:
        lines += [f"The source leaves open: {', '.join(map(code, protocol.open))}.", ""]
    for title, belongs in families.items():
        rows = [(_link(key), code(value), _meaning(key, value)) for key, value in protocol.items() if belongs(key)]
        lines += [f"## {title}", "", table(("decision", "value", ""), rows)] if rows else []
    return "\n".join([*lines, f"Hash {code(protocol.hash)}", ""])


def _meaning(key: str, value: object) -> str:
    decision = registry()[key]
    return escaped(decision.meaning(value)) if decision.options else ""  # type: ignore[arg-type]


def _link(key: str) -> str:
    """A decision with a link to its reference."""
    family = key.partition(".")[0]
    if family == "metric":
        return f"[{key}](../metrics/{key.split('.')[1]}.md)"
    return f"[{key}](../decisions/{family}.md#{anchor(key)})"
