"""`repro audit`: what black-box evaluators really compute, and who agrees with whom."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click
from click.shell_completion import CompletionItem

from repro.cli.decisions import complete_metric
from repro.cli.output import json_option, print_json, print_table
from repro.cli.progress import Stages

if TYPE_CHECKING:
    from repro.audit import BlackBox
    from repro.audit.agreement import Agreement
    from repro.audit.pipeline import PipelineAudit
    from repro.audit.policies import Policy
    from repro.plugin import Evaluator

_DEFAULT_K = 10

_seed_option = click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Of all that is drawn."
)
_quiet_option = click.option("--quiet", is_flag=True, help="No progress bar.")
_policies_option = click.option(
    "--policies",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Policies that `repro audit infer --into FOLDER` wrote.",
)


def _complete_evaluator(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.plugin import plugins

    found = plugins().evaluators().values()
    return [CompletionItem(one.name, help=one.summary) for one in found if one.name.startswith(incomplete)]


def _complete_only(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Frameworks and evaluators, also after a comma."""
    from repro.plugin import plugins

    before, comma, last = incomplete.rpartition(",")
    names = plugins().evaluators()
    offered = [*dict.fromkeys(name.partition("/")[0] for name in names), *names]
    return [CompletionItem(f"{before}{comma}{name}") for name in offered if name.startswith(last)]


def _complete_pipeline(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.plugin import plugins

    found = plugins().pipelines().values()
    return [CompletionItem(one.name, help=one.summary) for one in found if one.name.startswith(incomplete)]


def _complete_data(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.data import datasets

    found = [CompletionItem(name) for name in datasets() if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def _complete_cannot(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from repro.audit.functions import KEYWORDS

    return [CompletionItem(word) for word in KEYWORDS if word.startswith(incomplete)]


@click.group(epilog="Example: repro audit infer implicit/ranking_metrics_at_k")
def audit() -> None:
    """Find out what evaluators really compute, by asking them."""


@audit.command(epilog="Examples: repro audit evaluators; repro audit evaluators -m ndcg --only lenskit,implicit")
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_metric,
    help="Only this metric, such as ndcg; may be repeated.",
)
@click.option(
    "--only",
    metavar="NAME,NAME,...",
    shell_complete=_complete_only,
    help="Only these frameworks or evaluators.",
)
@_policies_option
@_seed_option
@_quiet_option
@json_option
def evaluators(
    metrics: tuple[str, ...], only: str | None, policies: str | None, seed: int, quiet: bool, as_json: bool
) -> None:
    """Every evaluator of every plug-in on the same rankings: who agrees with whom, to 12 digits.

    One matrix for each metric, the smallest cases of disagreement, and, where policies are given, the decisions that
    explain them.
    """
    from repro.audit.agreement import share_of
    from repro.audit.black_box import metric_named
    from repro.audit.compare import compare_evaluators
    from repro.audit.policies import read_policies

    wanted = [metric_named(name).name for name in metrics]
    chosen, left_out = _usable(_chosen(only))
    known = read_policies(Path(policies)) if policies else {}
    with _asking(), Stages(hidden=quiet or as_json) as stages:
        found = compare_evaluators(chosen, metrics=wanted, seed=seed, policies=known, tell=stages.tell)
    if as_json:
        print_json(
            {"share": share_of(found), "metrics": [one.to_dict() for one in found], "left_out": left_out, "seed": seed}
        )
        return
    for sentence in left_out.values():
        click.echo(f"left out: {sentence}", err=True)
    if not found:
        click.echo("no metric is there that two evaluators are taken for")
    for one in found:
        _print_agreement(one)
    if found:
        agreeing, compared = (sum(getattr(one, name) for one in found) for name in ("agreeing", "compared"))
        click.echo(f"In all {agreeing} of {compared} pairs agree ({share_of(found):.0%}).")


@audit.command(
    epilog=(
        "Examples: repro audit infer implicit/ranking_metrics_at_k -m ndcg; "
        "repro audit infer my_package.metrics:ndcg_at_k --metric ndcg --k 10 --cannot ties"
    )
)
@click.argument("target", shell_complete=_complete_evaluator)
@click.option(
    "-m",
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_metric,
    help="Of an evaluator, only these measures: its own name or the metric [default: all]. Of a function, the metric "
    "that it is taken for [default: as it is called].",
)
@click.option(
    "--k", "cutoff", metavar="K|none", help=f"The cut-off that a function is called with [default: {_DEFAULT_K}]."
)
@click.option(
    "--cannot",
    multiple=True,
    metavar="WORD",
    shell_complete=_complete_cannot,
    help="What a function cannot take, such as ties or missing_scores; may be repeated.",
)
@click.option("--into", type=click.Path(file_okay=False), help="Write protocols and findings into this folder.")
@click.option("--no-evidence", is_flag=True, help="Do not look for the cases that reject other options: faster.")
@_seed_option
@_quiet_option
@json_option
def infer(
    target: str,
    metrics: tuple[str, ...],
    cutoff: str | None,
    cannot: tuple[str, ...],
    into: str | None,
    no_evidence: bool,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """The protocol that an evaluator follows, with the evidence.

    TARGET is an evaluator of a plug-in, such as implicit/ranking_metrics_at_k, or a Python function called
    package.module:function, which takes (scores, truth, train, k): data frames with user, item and score or rating.
    """
    from repro.audit import box_of_evaluator, infer_policy
    from repro.audit.policies import write_policy

    if ":" in target:
        boxes = [_box_of_function(target, metrics, cutoff, cannot)]
    elif cutoff or cannot:
        raise click.UsageError(f"--k and --cannot are for functions; {target} says itself what it takes")
    else:
        evaluator = _evaluator(target)
        boxes = [box_of_evaluator(evaluator, measure) for measure in _measures(evaluator, metrics)]
    found = []
    with _asking(), Stages(hidden=quiet or as_json) as stages:
        for box in boxes:
            with _aspects(stages, box) as tell:
                found.append(infer_policy(box, seed=seed, evidence=not no_evidence, tell=tell))
    written = [file for one in found for file in write_policy(one, Path(into))] if into else []
    if as_json:
        print_json({"inferences": [one.to_dict() for one in found], "written": list(map(str, written))})
        return
    for one in found:
        click.echo(click.style(one.summary, bold=True))
    for one in found:
        click.echo(f"\n{one.to_text()}")
    for file in written:
        click.echo(f"written  {file}")


@audit.command(
    epilog=(
        "Examples: repro audit pipeline surprise/cross_validate; "
        "repro audit pipeline implicit/train_test_split -m ndcg --data ml-1m --policies protocols/inferred"
    )
)
@click.argument("name", shell_complete=_complete_pipeline)
@click.option(
    "--data",
    default="ml-100k",
    show_default=True,
    shell_complete=_complete_data,
    help="A data set of `repro data list`, or a file.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="NAME",
    help="Only this number of those reported; may be repeated.",
)
@click.option(
    "--protocol",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Measure by this protocol [default: what is inferred of the framework's evaluator].",
)
@_policies_option
@_seed_option
@_quiet_option
@json_option
def pipeline(
    name: str,
    data: str,
    measures: tuple[str, ...],
    protocol: str | None,
    policies: str | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """A framework's whole native evaluation against the core under the inferred protocol.

    NAME is a pipeline of a plug-in, such as surprise/cross_validate: the framework splits, fits and measures; the core
    measures its scores again.
    """
    from repro.audit.pipeline import audit_pipeline, evaluator_of
    from repro.data import load_dataset
    from repro.plugin import plugins

    known = plugins().pipelines()
    if name not in known:
        _fail_unknown("pipeline", name, list(known))
    evaluator = evaluator_of(known[name])
    _refuse_missing(evaluator)
    rows = load_dataset(data)
    with _asking(), Stages(hidden=quiet or as_json) as stages:
        policy_of = _policies(evaluator, protocol, policies, seed, stages)
        found = audit_pipeline(known[name], rows, policy_of, data=data, seed=seed, measures=measures, tell=stages.tell)
    if as_json:
        print_json(found.to_dict())
        return
    _print_pipeline(found)


def _policies(
    evaluator: Evaluator, protocol: str | None, folder: str | None, seed: int, stages: Stages
) -> Callable[[str], Policy | None]:
    """The policy of each measure of an evaluator: stated, read, or inferred now."""
    from repro.audit import box_of_evaluator, infer_policy
    from repro.audit.policies import read_policies
    from repro.protocol import read_protocol

    if protocol and folder:
        raise click.UsageError("--protocol and --policies exclude each other")
    if protocol:
        stated = read_protocol(protocol)
        return lambda measure: stated
    if folder:
        known = read_policies(Path(folder))
        return lambda measure: known.get(f"{evaluator.name} {measure}")

    def inferred(measure: str) -> Policy:
        box = box_of_evaluator(evaluator, measure)
        with _aspects(stages, box) as tell:
            return infer_policy(box, seed=seed, evidence=False, tell=tell)

    return inferred


def _box_of_function(target: str, metrics: tuple[str, ...], cutoff: str | None, cannot: tuple[str, ...]) -> BlackBox:
    from repro.audit.black_box import metric_named
    from repro.audit.functions import box_of_function, load

    if len(metrics) > 1:
        raise click.UsageError("a function is taken for one metric; give -m once")
    metric = metric_named(metrics[0] if metrics else _called_after(target))
    if metric.cutoff == "none" and cutoff not in (None, "none"):
        raise click.UsageError(f"{metric.name} takes no cut-off; leave out --k")
    k = None if metric.cutoff == "none" else _cutoff(cutoff)
    return box_of_function(load(target), metric.name, k, target, {word.replace("-", "_"): False for word in cannot})


def _called_after(target: str) -> str:
    """The metric that a function is called after: ``ndcg`` of ``my_package.metrics:ndcg_at_k``."""
    from repro.metrics import metrics

    words = target.rpartition(":")[2].rpartition(".")[2].lower().split("_")
    known = {alias for one in metrics().values() for alias in (one.name, *one.aliases)}
    for length in range(len(words), 0, -1):
        for start in range(len(words) - length + 1):
            if (name := "-".join(words[start : start + length])) in known:
                return name
    raise click.UsageError(f"say with -m which metric {target} is taken for, such as -m ndcg (`repro metrics list`)")


def _cutoff(given: str | None) -> int | None:
    if given == "none":
        return None
    if given is not None and (not given.isdecimal() or int(given) < 1):
        raise click.BadParameter(f"'{given}': write a whole number from 1, or none", param_hint="--k")
    return int(given or _DEFAULT_K)


@contextmanager
def _aspects(stages: Stages, box: BlackBox) -> Iterator[Callable[[str], None]]:
    """Shows how many aspects of a policy have been gone through."""
    from repro.audit.aspects import aspects_of

    total, done = len(aspects_of(box.metric)) + 3, 0  # and stability, all together, and the evidence

    def tell(aspect: str) -> None:
        nonlocal done
        stages.tell(box.name, done, total)
        done += 1

    yield tell
    stages.tell(box.name, total, total)


@contextmanager
def _asking() -> Iterator[None]:
    """Frameworks warn of odd cases, and those that they are asked are odd."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _evaluator(name: str) -> Evaluator:
    from repro.plugin import plugins

    known = plugins().evaluators()
    if name not in known:
        _fail_unknown("evaluator", name, list(known))
    _refuse_missing(known[name])
    return known[name]


def _fail_unknown(what: str, name: str, known: list[str]) -> NoReturn:
    from repro.errors import PluginError, nearest

    hint = " A function is called package.module:function." if what == "evaluator" else ""
    raise PluginError(
        f"there is no {what} '{name}'{nearest(name, known)} There are: {', '.join(known) or 'none'}.{hint}"
    )


def _measures(evaluator: Evaluator, wanted: tuple[str, ...]) -> list[str]:
    """The measures of an evaluator that are called so, or that are taken for such a metric; all if none is wanted."""
    from repro.errors import PluginError, nearest

    names = {
        measure: (measure.lower(), metric, metric.partition("@")[0]) for measure, metric in evaluator.measures.items()
    }
    for name in wanted:
        if not any(name.lower() in called for called in names.values()):
            known = ", ".join(f"{measure} ({metric})" for measure, metric in evaluator.measures.items())
            raise PluginError(f"{evaluator.name} has no measure '{name}'{nearest(name, names)} It has: {known}")
    return [one for one, called in names.items() if not wanted or any(name.lower() in called for name in wanted)]


def _chosen(only: str | None) -> list[Evaluator]:
    """The evaluators that are asked for, by framework or by name."""
    from repro.plugin import plugins

    known = plugins().evaluators()
    if only is None:
        return list(known.values())
    names = [part.strip() for part in only.split(",") if part.strip()]
    frameworks = list(dict.fromkeys(name.partition("/")[0] for name in known))
    for name in names:
        if name not in known and name not in frameworks:
            _fail_unknown("framework or evaluator", name, [*frameworks, *known])
    return [one for one in known.values() if {one.name, one.name.partition("/")[0]} & set(names)]


def _usable(evaluators: list[Evaluator]) -> tuple[list[Evaluator], dict[str, str]]:
    """The evaluators whose frameworks can run, and of the other frameworks how to have them."""
    from repro.plugin import how_to_install, plugins

    found = plugins()
    missing = {
        framework: how_to_install(found.frameworks[framework])
        for framework in dict.fromkeys(one.name.partition("/")[0] for one in evaluators)
        if framework in found.frameworks and found.place(framework) == "missing"
    }
    return [one for one in evaluators if one.name.partition("/")[0] not in missing], missing


def _refuse_missing(evaluator: Evaluator) -> None:
    from repro.errors import PluginError

    for sentence in _usable([evaluator])[1].values():
        raise PluginError(f"{evaluator.name}: {sentence}")


def _print_agreement(one: Agreement) -> None:
    places = [str(place) for place in range(1, len(one.names) + 1)]
    rows = zip(places, one.names, one.marks(), strict=True)
    print_table(["", "evaluator", *places], [[place, name, *marks] for place, name, marks in rows], title=one.summary)
    click.echo(f"{one.legend}.\n\n{one.details()}")


def _print_pipeline(found: PipelineAudit) -> None:
    print_table(
        ["measure", "fold", "reported", "measured", "difference", "users"],
        [
            [row.measure, row.fold, f"{row.reported:.10g}", f"{row.measured:.10g}", _difference(row), f"{row.users:,}"]
            for row in found.frame().itertuples()
        ],
        title=found.summary,
        right=["fold", "reported", "measured", "difference", "users"],
    )
    click.echo(f"\n{found.findings()}")


def _difference(row: object) -> str:
    return "equal" if row.equal else f"{row.difference:.3g}"  # type: ignore[attr-defined]
