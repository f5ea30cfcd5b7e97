"""`repro audit`: what black-box evaluators really compute, and which of them agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from repro.cli.commands.audits._audit_report import report
from repro.cli.options.evaluator_options import (
    DEFAULT_K,
    box_called,
    chosen_evaluators,
    complete_cannot,
    complete_data,
    complete_evaluator,
    complete_pipeline,
    evaluator_called,
    measures_called,
    only_option,
    pipeline_called,
    refuse_missing,
    seed_option,
    usable,
)
from repro.cli.options.protocol_options import metric_option
from repro.cli.output import Styled, echo, json_option, print_json, print_table
from repro.cli.progress import Stages, quiet_option

if TYPE_CHECKING:
    from repro.audit import BlackBox
    from repro.audit.comparison.agreement import Agreement
    from repro.audit.pipelines.pipeline_audit import PipelineAudit
    from repro.audit.policies import Policy
    from repro.plugin import Evaluator

_policies_option = click.option(
    "--policies",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Policies that `repro audit infer --into FOLDER` or `repro audit report` wrote, such as protocols/inferred.",
)


@click.group(epilog="Examples: repro audit infer implicit/ranking_metrics_at_k; repro audit report")
def audit() -> None:
    """Infer what evaluators compute by asking them, and compare them with each other."""


audit.add_command(report)


@audit.command(epilog="Examples: repro audit evaluators; repro audit evaluators -m ndcg --only lenskit,implicit")
@metric_option("Only this metric, such as ndcg; may be repeated.")
@only_option
@_policies_option
@seed_option
@quiet_option
@json_option
def evaluators(
    metrics: tuple[str, ...], only: str | None, policies: str | None, seed: int, quiet: bool, as_json: bool
) -> None:
    """Compare every evaluator of every plug-in on the same rankings, to 12 digits.

    One matrix for each metric, the smallest cases of disagreement, and, where policies are given, the decisions that
    explain them.
    """
    from repro.audit.comparison.agreement import share_of
    from repro.audit.comparison.pairwise import compare_evaluators
    from repro.audit.policies import read_policies
    from repro.evaluation.metrics import metric_named

    wanted = [metric_named(name).name for name in metrics]
    chosen, left_out = usable(chosen_evaluators(only))
    inferred = read_policies(Path(policies)) if policies else {}
    with _asking(), Stages(hidden=quiet or as_json) as stages:
        agreements = compare_evaluators(chosen, metrics=wanted, seed=seed, policies=inferred, progress=stages.tell)
    if as_json:
        print_json(
            {
                "share": share_of(agreements),
                "metrics": [agreement.to_dict() for agreement in agreements],
                "left_out": left_out,
                "seed": seed,
            }
        )
        return
    for sentence in left_out.values():
        echo(f"left out: {sentence}", err=True)
    if not agreements:
        echo("no metric is implemented by two evaluators")
    for agreement in agreements:
        _print_agreement(agreement)
    if agreements:
        agreeing, compared = (
            sum(getattr(agreement, name) for agreement in agreements) for name in ("agreeing", "compared")
        )
        echo(f"In all {agreeing} of {compared} pairs agree ({share_of(agreements):.0%}).")


@audit.command(
    epilog=(
        "Examples: repro audit infer implicit/ranking_metrics_at_k -m ndcg; "
        "repro audit infer my_package.metrics:ndcg_at_k --metric ndcg --k 10 --cannot ties"
    )
)
@click.argument("target", shell_complete=complete_evaluator)
@metric_option(
    "Of an evaluator, only these measures: its own name or the metric [default: all]. Of a function, the metric "
    "that it should compute [default: the one in its name]."
)
@click.option(
    "--k",
    "cutoff",
    metavar="K|K,K|none",
    help=f"The cut-off (or cut-offs) that a function is called with [default: {DEFAULT_K}].",
)
@click.option(
    "--cannot",
    multiple=True,
    metavar="WORD",
    shell_complete=complete_cannot,
    help="Input that a function does not accept, such as ties or missing_scores; may be repeated.",
)
@click.option("--into", type=click.Path(file_okay=False), help="Write the policies as protocols into this folder.")
@click.option("--no-evidence", is_flag=True, help="Do not search for cases that reject other options (faster).")
@seed_option
@quiet_option
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
        boxes = [box_called(target, metrics, cutoff, cannot)]
    elif cutoff or cannot:
        raise click.UsageError(f"--k and --cannot are for functions; {target} says itself what it takes")
    else:
        evaluator = evaluator_called(target)
        boxes = [box_of_evaluator(evaluator, measure) for measure in measures_called(evaluator, metrics)]
    inferences, written = [], []
    with _asking(), Stages(hidden=quiet or as_json) as stages:
        for box in boxes:
            with _aspects(stages, box) as progress:
                inferences.append(infer_policy(box, seed=seed, evidence=not no_evidence, progress=progress))
            file = write_policy(inferences[-1], Path(into)) if into else None
            written += [] if file is None else [file]
    if as_json:
        print_json(
            {"inferences": [inference.to_dict() for inference in inferences], "written": list(map(str, written))}
        )
        return
    if len(inferences) > 1:
        echo(*(Styled(f"{inference.summary}\n") for inference in inferences))
    echo("\n".join(inference.to_text() for inference in inferences))
    for file in written:
        echo(f"written  {file}")


@audit.command(
    epilog=(
        "Examples: repro audit pipeline surprise/cross_validate; "
        "repro audit pipeline implicit/train_test_split -m ndcg --data ml-1m --policies protocols/inferred"
    )
)
@click.argument("name", shell_complete=complete_pipeline)
@click.option(
    "--data",
    default="ml-100k",
    show_default=True,
    shell_complete=complete_data,
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
    help="Measure with this protocol [default: the policy inferred from the framework's evaluator].",
)
@_policies_option
@seed_option
@quiet_option
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
    """Compare a framework's whole native evaluation with the core under the inferred protocol.

    NAME is a pipeline of a plug-in, such as surprise/cross_validate: the framework splits, fits and measures; the core
    measures its scores again.
    """
    from repro.audit.pipelines.pipeline_audit import audit_pipeline, evaluator_of
    from repro.data import load_dataset

    chosen = pipeline_called(name)
    evaluator = evaluator_of(chosen)
    refuse_missing(evaluator)
    rows = load_dataset(data)
    with _asking(), Stages(hidden=quiet or as_json) as stages:
        policy_of = _policies(evaluator, protocol, policies, seed, stages)
        audited = audit_pipeline(chosen, rows, policy_of, data=data, seed=seed, measures=measures, progress=stages.tell)
    if as_json:
        print_json(audited.to_dict())
        return
    _print_pipeline(audited)


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
        read = read_protocol(protocol)
        return lambda measure: read
    if folder:
        policies = read_policies(Path(folder))
        return lambda measure: policies.get(f"{evaluator.name} {measure}")

    def inferred(measure: str) -> Policy:
        box = box_of_evaluator(evaluator, measure)
        with _aspects(stages, box) as progress:
            return infer_policy(box, seed=seed, evidence=False, progress=progress)

    return inferred


@contextmanager
def _aspects(stages: Stages, box: BlackBox) -> Iterator[Callable[[str], None]]:
    """Shows how many aspects of a policy have been examined."""
    from repro.audit.questions.aspects import aspects_of

    total, done = len(aspects_of(box.metric)) + 3, 0  # and stability, all together, and the evidence

    def progress(step: str) -> None:
        nonlocal done
        stages.tell(box.name, done, total)
        done += 1

    yield progress
    stages.tell(box.name, total, total)


@contextmanager
def _asking() -> Iterator[None]:
    """Hides warnings: frameworks warn about unusual input, which most questions are."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _print_agreement(agreement: Agreement) -> None:
    echo(Styled(agreement.summary))
    places = [str(place) for place in range(1, len(agreement.names) + 1)]
    rows = zip(places, agreement.names, agreement.marks(), strict=True)
    print_table(["", "evaluator", *places], [[place, name, *marks] for place, name, marks in rows])
    echo(f"{agreement.legend}.\n\n{agreement.details()}")


def _print_pipeline(audited: PipelineAudit) -> None:
    echo(Styled(audited.summary))
    rows = [
        [row.measure, row.fold, f"{row.reported:.10g}", f"{row.measured:.10g}", _difference(row), f"{row.users:,}"]
        for row in audited.frame().itertuples()
    ]
    if rows:
        columns = ["measure", "fold", "reported", "measured", "difference", "users"]
        print_table(columns, rows, right=columns[1:])
    echo(f"\n{audited.findings()}")


def _difference(row: object) -> str:
    return "equal" if row.equal else f"{row.difference:.3g}"  # type: ignore[attr-defined]
