"""`repro audit report`: audit all evaluators into a folder, and write a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from repro.cli.options.evaluator_options import AuditOptions, data_option, names_in, only_option
from repro.cli.options.option_classes import command, flag, option
from repro.cli.options.shared_options import FILE, FOLDER, metric_option, workers_option
from repro.cli.output import Styled, echo, print_json
from repro.progress import Stages
from repro.text import plural

if TYPE_CHECKING:
    from repro.audits.campaign.audit_results import AuditResults

_FINDINGS = 10  # findings that are printed


@dataclass(frozen=True, kw_only=True)
class ReportOptions(AuditOptions):
    only: str | None = only_option()
    metrics: tuple[str, ...] = metric_option(
        "Only measures that are declared as this metric, such as ndcg; may be repeated."
    )
    into: str = option("The folder of the report, the journal and the pages.", type=FOLDER, default="audit")
    protocols: str | None = option(
        "The table of the inferred protocols [default: protocols.toml in the folder of --into].", type=FILE
    )
    data: str = data_option("The data of whole evaluations: a data set of `repro data list`, or a file.")
    no_pipelines: bool = flag("Do not run the frameworks' whole evaluations.")
    from_journal: bool = flag("Ask no evaluator: write tables and report from the journal there.")
    resume: bool = flag("Finish an interrupted audit, or begin one.")
    fresh: bool = flag("Replace the audit that is in the folder.")
    workers: int = workers_option("Number of processes; no effect on results.")


@command(
    "repro audit report",
    "repro audit report --resume",
    "repro audit report --only sklearn,surprise -m rmse --into audit-of-rmse",
)
def report(options: ReportOptions) -> None:
    """Audit all evaluators, and write a report: policies, agreement and surprising findings.

    The policy of every measure of every evaluator is inferred, measures that are declared as one metric are compared,
    and whole evaluations are compared with the core. Finished work is kept: --resume continues an interrupted audit.
    """
    from repro.audits.campaign.audit_run import PROTOCOLS
    from repro.reports.audit import write_audit_report

    table = Path(options.protocols) if options.protocols else Path(options.into) / PROTOCOLS
    results = _results_of_journal(options, table) if options.from_journal else _ask(options, table)
    file = write_audit_report(results)
    if options.as_json:
        print_json(_summary(results, file, table))
        return
    _print_results(results)
    echo(f"\nreport     {file}\nprotocols  {table}")


def _ask(options: ReportOptions, table: Path) -> AuditResults:
    """The results of an audit that is begun, or finished, now."""
    from repro.audits import audit_all
    from repro.audits.targets import chosen_evaluators, usable

    only = names_in(options.only)
    if not options.as_json:
        for sentence in usable(chosen_evaluators(only))[1].values():
            echo(f"left out: {sentence}", err=True)
    with Stages(hidden=options.hidden) as stages:
        return audit_all(
            options.into,
            only=only,
            metrics=options.metrics,
            pipelines=not options.no_pipelines,
            data=options.data,
            protocols=table,
            resume=options.resume,
            fresh=options.fresh,
            workers=options.workers,
            seed=options.seed,
            progress=stages.update,
        )


def _results_of_journal(options: ReportOptions, table: Path) -> AuditResults:
    from repro.audits.campaign.audit_run import tables_from_journal

    results, lacking = tables_from_journal(Path(options.into), table)
    if lacking:
        echo(
            f"{table} is not written: another version of the decisions recorded the policies of "
            f"{plural(len(lacking), 'measure')}, such as {lacking[0]}; audit again with --fresh",
            err=True,
        )
    return results


def _summary(results: AuditResults, file: Path, protocols: Path) -> dict[str, object]:
    from repro.reports.audit import findings_of, headline

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
    from repro.reports.audit import findings_of, headline

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
    for finding in findings[:_FINDINGS]:
        echo("  ", Styled(finding.kind), f": {finding.topic}: {finding.sentence} ({finding.who})")
    if len(findings) > _FINDINGS:
        echo(f"  and {len(findings) - _FINDINGS} more findings in the report")
    for name, error in results.failed.items():
        echo(f"failed: {name}: {error}", err=True)
