"""`repro audit report`: audit all evaluators into a folder, and write a report."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from repro.cli.options.evaluator_options import chosen_evaluators, complete_data, only_option, seed_option, usable
from repro.cli.options.protocol_options import metric_option
from repro.cli.output import Styled, echo, json_option, print_json
from repro.cli.progress import Stages, quiet_option
from repro.text import plural

if TYPE_CHECKING:
    from repro.audit.campaign.audit_results import AuditResults
    from repro.audit.campaign.audit_run import AuditOptions

FOLDER, PROTOCOLS = "audit", "protocols"
_SHOWN = 10


@click.command(
    epilog=(
        "Examples: repro audit report; repro audit report --resume; "
        "repro audit report --only sklearn,surprise -m rmse --into audit-of-rmse"
    )
)
@only_option
@metric_option("Only measures that are declared as this metric, such as ndcg; may be repeated.")
@click.option(
    "--into",
    type=click.Path(file_okay=False),
    default=FOLDER,
    show_default=True,
    help="The folder of the report, the journal and the pages.",
)
@click.option(
    "--protocols",
    type=click.Path(file_okay=False),
    help=f"The folder of the inferred protocols [default: {PROTOCOLS} in the folder of --into].",
)
@click.option(
    "--data",
    default="ml-100k",
    show_default=True,
    shell_complete=complete_data,
    help="The data of whole evaluations: a data set of `repro data list`, or a file.",
)
@click.option("--no-pipelines", is_flag=True, help="Do not run the frameworks' whole evaluations.")
@click.option("--resume", is_flag=True, help="Finish an interrupted audit, or begin one.")
@click.option("--fresh", is_flag=True, help="Replace the audit that is in the folder.")
@click.option(
    "--workers", type=click.IntRange(1), help="Number of processes; no effect on results [default: all cores]."
)
@seed_option
@quiet_option
@json_option
def report(
    only: str | None,
    metrics: tuple[str, ...],
    into: str,
    protocols: str | None,
    quiet: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Audit all evaluators, and write a report: policies, agreement and surprising findings.

    The policy of every measure of every evaluator is inferred, measures that are declared as one metric are compared,
    and whole evaluations are compared with the core. Finished work is kept: --resume continues an interrupted audit.
    """
    from repro.audit.campaign.audit_run import run_audit
    from repro.report.audit import write_audit_report

    folder = Path(into)
    policies = folder / PROTOCOLS if protocols is None else Path(protocols)
    chosen, left_out = usable(chosen_evaluators(only))
    if not as_json:
        for sentence in left_out.values():
            echo(f"left out: {sentence}", err=True)
    with Stages(hidden=quiet or as_json) as stages:
        results = run_audit(chosen, folder, policies, _audit_options(metrics, left_out, **options), stages.tell)
    file = write_audit_report(results)
    if as_json:
        print_json(_summary(results, file, policies))
        return
    _print_results(results)
    echo(f"\nreport     {file}\nprotocols  {policies}")


def _audit_options(
    metrics: tuple[str, ...],
    left_out: dict[str, str],
    *,
    no_pipelines: bool,
    workers: int | None,
    **options: Any,
) -> AuditOptions:
    from repro.audit.campaign.audit_run import AuditOptions
    from repro.plugin import plugins

    return AuditOptions(
        pipelines=[] if no_pipelines else list(plugins().pipelines().values()),
        metrics=metrics,
        left_out=left_out,
        workers=workers or os.cpu_count() or 1,
        **options,
    )


def _summary(results: AuditResults, file: Path, protocols: Path) -> dict[str, object]:
    from repro.report.audit import findings_of, headline

    return {
        "report": str(file),
        "protocols": str(protocols),
        **headline(results),
        "findings": [
            {
                "kind": finding.kind,
                "topic": finding.topic,
                "finding": finding.sentence,
                "measures": list(finding.measures),
            }
            for finding in findings_of(results)
        ],
        "failures": dict(results.failed),
        "left_out": dict(results.started.left_out),
    }


def _print_results(results: AuditResults) -> None:
    from repro.report.audit import findings_of, headline

    counts = headline(results)
    echo(
        f"{plural(counts['measures'], 'measure')} of {plural(counts['evaluators'], 'evaluator')}: "
        f"{counts['explained']} explained in full, {counts['explained_but']} but for something, "
        f"{counts['no_policy']} by no policy, {counts['random']} random, {counts['failed']} failed"
    )
    if counts["pairs"]:
        echo(f"{counts['pairs_agreeing']} of {counts['pairs']} pairs that are declared as one metric agree")
    if counts["pipeline_measures"]:
        equal = f"{counts['pipeline_measures_equal']} of {counts['pipeline_measures']}"
        echo(f"{equal} numbers of whole evaluations are those that the core gives")
    findings = findings_of(results)
    for finding in findings[:_SHOWN]:
        echo("  ", Styled(finding.kind), f": {finding.topic}: {finding.sentence} ({finding.who})")
    if len(findings) > _SHOWN:
        echo(f"  and {len(findings) - _SHOWN} more findings in the report")
    for name, error in results.failed.items():
        echo(f"failed: {name}: {error}", err=True)
