"""`repro audit`: infer what black-box evaluators compute, and compare them with each other."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repro.cli.commands.audits._audit_report import report
from repro.cli.help_text import Group
from repro.cli.options.evaluator_options import (
    DEFAULT_K,
    AuditOptions,
    box_called,
    complete_cannot,
    complete_evaluator,
    complete_pipeline,
    data_option,
    names_in,
    only_option,
)
from repro.cli.options.option_classes import argument, command, flag, option
from repro.cli.options.shared_options import FILE, into_option, metric_option
from repro.cli.output import Styled, echo, print_json, print_table
from repro.progress import Stages

if TYPE_CHECKING:
    from repro.audits.comparison.agreement import Agreement
    from repro.audits.pipelines.pipeline_audit import PipelineAudit


def _policies_option() -> Any:
    return option(
        "The table of policies that `repro audit report` wrote, or a folder of them (`repro audit infer --into`).",
        type=click.Path(),
        metavar="PATH",
    )


@click.group(cls=Group, epilog="Examples: repro audit infer implicit/ranking_metrics_at_k; repro audit report")
def audit() -> None:
    """Infer what evaluators compute by asking them, and compare them with each other."""


audit.add_command(report)


@dataclass(frozen=True, kw_only=True)
class EvaluatorsOptions(AuditOptions):
    metrics: tuple[str, ...] = metric_option("Only this metric, such as ndcg; may be repeated.")
    only: str | None = only_option()
    policies: str | None = _policies_option()


@command("repro audit evaluators", "repro audit evaluators -m ndcg --only lenskit,implicit", group=audit)
def evaluators(options: EvaluatorsOptions) -> None:
    """Compare every evaluator of every plug-in on the same rankings, to 12 digits.

    One matrix for each metric, the smallest cases of disagreement, and, where policies are given, the decisions that
    explain them.
    """
    from repro.audits import compare
    from repro.audits.comparison.agreement import share_of
    from repro.audits.targets import chosen_evaluators, usable

    only = names_in(options.only)
    _, left_out = usable(chosen_evaluators(only))
    with Stages(hidden=options.hidden) as stages:
        agreements = compare(
            options.metrics, only=only, policies=options.policies, seed=options.seed, progress=stages.update
        )
    if options.as_json:
        print_json(
            {
                "share": share_of(agreements),
                "metrics": [agreement.to_dict() for agreement in agreements],
                "left_out": left_out,
                "seed": options.seed,
            }
        )
        return
    for sentence in left_out.values():
        echo(f"left out: {sentence}", err=True)
    if not agreements:
        echo("no metric is implemented by two evaluators")
        return
    for agreement in agreements:
        _print_agreement(agreement)
    agreeing = sum(agreement.agreeing for agreement in agreements)
    compared = sum(agreement.compared for agreement in agreements)
    echo(f"In all {agreeing} of {compared} pairs agree ({share_of(agreements):.0%}).")


@dataclass(frozen=True, kw_only=True)
class InferOptions(AuditOptions):
    target: str = argument(shell_complete=complete_evaluator)
    metrics: tuple[str, ...] = metric_option(
        "Of an evaluator, only these measures: its own name or the metric [default: all]. Of a function, the metric "
        "that it should compute [default: the one in its name].",
        callback=None,
    )
    cutoff: str | None = option(
        f"The cut-off (or cut-offs) that a function is called with [default: {DEFAULT_K}].", "--k", metavar="K|K,K|none"
    )
    cannot: tuple[str, ...] = option(
        "Input that a function does not accept, such as ties or missing_scores; may be repeated.",
        metavar="WORD",
        shell_complete=complete_cannot,
    )
    into: str | None = into_option("Write the policies as protocols into this folder.")
    no_evidence: bool = flag("Do not search for cases that reject other options (faster).")


@command(
    "repro audit infer implicit/ranking_metrics_at_k -m ndcg",
    "repro audit infer my_package.metrics:ndcg_at_k --metric ndcg --k 10 --cannot ties",
    group=audit,
)
def infer(options: InferOptions) -> None:
    """The protocol that an evaluator follows, with the evidence.

    TARGET is an evaluator of a plug-in, such as implicit/ranking_metrics_at_k, or a Python function called
    package.module:function, which takes (scores, truth, train, k): data frames with user, item and score or rating.
    """
    from repro.audits import box_of_evaluator, infer_policy
    from repro.audits.calls import ignored_warnings, steps_as_stage
    from repro.audits.policies import write_policy
    from repro.audits.targets import evaluator_called, measures_called

    if ":" in options.target:
        boxes = [box_called(options.target, options.metrics, options.cutoff, options.cannot)]
    elif options.cutoff or options.cannot:
        raise click.UsageError(f"--k and --cannot are for functions; {options.target} declares its own input")
    else:
        evaluator = evaluator_called(options.target)
        boxes = [box_of_evaluator(evaluator, measure) for measure in measures_called(evaluator, options.metrics)]
    inferences, written = [], []
    with ignored_warnings(), Stages(hidden=options.hidden) as stages:
        for box in boxes:
            with steps_as_stage(box, stages.update) as progress:
                inference = infer_policy(box, seed=options.seed, evidence=not options.no_evidence, progress=progress)
            inferences.append(inference)
            if options.into and (file := write_policy(inference, Path(options.into))) is not None:
                written.append(file)
    if options.as_json:
        print_json(
            {"inferences": [inference.to_dict() for inference in inferences], "written": list(map(str, written))}
        )
        return
    if len(inferences) > 1:
        echo(*(Styled(f"{inference.summary}\n") for inference in inferences))
    echo("\n".join(inference.to_text() for inference in inferences))
    for file in written:
        echo(f"written  {file}")


@dataclass(frozen=True, kw_only=True)
class PipelineOptions(AuditOptions):
    name: str = argument(shell_complete=complete_pipeline)
    data: str = data_option("A data set of `repro data list`, or a file.")
    measures: tuple[str, ...] = option(
        "Only this number of those reported; may be repeated.", "-m", "--measure", metavar="NAME"
    )
    protocol: str | None = option(
        "Measure with this protocol [default: the policy inferred from the framework's evaluator].", type=FILE
    )
    policies: str | None = _policies_option()


@command(
    "repro audit pipeline surprise/cross_validate",
    "repro audit pipeline implicit/train_test_split -m ndcg --data ml-1m --policies audit/protocols.toml",
    group=audit,
)
def pipeline(options: PipelineOptions) -> None:
    """Compare a framework's whole native evaluation with the core under the inferred protocol.

    NAME is a pipeline of a plug-in, such as surprise/cross_validate: the framework splits, fits and measures; the core
    measures its scores again.
    """
    from repro.audits import check_pipeline

    if options.protocol and options.policies:
        raise click.UsageError("--protocol and --policies exclude each other")
    with Stages(hidden=options.hidden) as stages:
        audited = check_pipeline(
            options.name,
            options.data,
            measures=options.measures,
            protocol=options.protocol,
            policies=options.policies,
            seed=options.seed,
            progress=stages.update,
        )
    if options.as_json:
        print_json(audited.to_dict())
        return
    _print_pipeline(audited)


def _print_agreement(agreement: Agreement) -> None:
    echo(Styled(agreement.summary))
    numbers = [str(number) for number in range(1, len(agreement.names) + 1)]
    rows = zip(numbers, agreement.names, agreement.marks(), strict=True)
    print_table(["", "evaluator", *numbers], [[number, name, *marks] for number, name, marks in rows])
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
