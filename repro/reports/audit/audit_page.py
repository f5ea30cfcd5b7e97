"""The report of an audit of evaluators: one HTML file, the findings first; it links to the pages next to it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from repro.audits.campaign.audit_results import AuditResults, is_random
from repro.audits.campaign.audit_run import REPORT
from repro.reports.audit.agreement_table import agreement_blocks
from repro.reports.audit.audit_findings import (
    KINDS,
    ROUNDED,
    SAME_NAME,
    UNUSUAL,
    Finding,
    findings_of,
    framework,
    named,
)
from repro.reports.audit.policy_table import policy_blocks
from repro.reports.html import Cell, Details, Heading, Table, link, page, render
from repro.runs.written_files import keep_files

_OPEN = 6  # findings that are shown at once
_MEANING = {
    "outside the range": "A number that the metric cannot have.",
    "random": "The same question, asked again, has another answer.",
    "order of rows": "The same rows in another order have another answer.",
    "unexplained": "No policy in the space of decisions gives these answers; the closest one is off.",
    "rounded": "Only the printed digits are available.",
    "one name, two numbers": "Two ways to call one framework, one name of a measure, and different numbers.",
    "unusual": "A choice that most frameworks make otherwise.",
}


def write_audit_report(results: AuditResults) -> Path:
    """Write ``report.html`` into the folder of the audit; its path."""
    keep_files(results.folder, {REPORT: audit_page(results).encode()})
    return results.folder / REPORT


def audit_page(results: AuditResults) -> str:
    """The report as HTML."""
    findings = findings_of(results)
    title = "What evaluators really compute"
    blocks = [
        Heading(title, level=1),
        *_lead(results, findings),
        *_findings(results, findings),
        *policy_blocks(results),
        *agreement_blocks(results),
        *_pipelines(results),
        *_left_out(results),
        *_identity(results),
    ]
    return page(title, blocks, ["audit.css"])


def headline(results: AuditResults) -> dict[str, int]:
    """The numbers that sum an audit up."""
    events = results.inferred.values()
    random = sum(is_random(event) for event in events)
    explained = sum(event.status == "explained" for event in events)
    no_policy = sum(not event.policy for event in events) - random
    measures = [measure for pipeline in results.pipelines for measure in pipeline.measures]
    return {
        "frameworks": len({framework(evaluator.name) for evaluator in results.started.evaluators}),
        "evaluators": len(results.started.evaluators),
        "measures": len(results.measures),
        "explained": explained,
        "explained_but": len(events) - explained - no_policy - random,
        "no_policy": no_policy,
        "random": random,
        "failed": len(results.measures) - len(events),
        "pairs": sum(event.compared for event in results.compared),
        "pairs_agreeing": sum(event.agreeing for event in results.compared),
        "pipeline_measures": len(measures),
        "pipeline_measures_equal": sum(measure.equal for measure in measures),
    }


def _lead(results: AuditResults, findings: Sequence[Finding]) -> list[object]:
    """The main result, in numbers and in a few sentences."""
    counts = headline(results)
    questions = sum(event.asked for event in results.inferred.values())
    cards = [
        (_share(counts["pairs_agreeing"], counts["pairs"]), "of pairs that bear the name of one metric agree"),
        (f"{counts['explained']} of {counts['measures']}", "measures follow one policy in all that they can be asked"),
        (f"{counts['explained_but']}", "do so but for something that no policy explains"),
        (f"{counts['no_policy']}", "follow no policy that is known, not even for plain lists"),
        (f"{counts['random']}", "give random answers"),
    ]
    if counts["pipeline_measures"]:
        equal = f"{counts['pipeline_measures_equal']} of {counts['pipeline_measures']}"
        cards.append((equal, "numbers of whole evaluations are those that the core gives"))
    lead = render("audit_lead.html.j2", counts=counts, questions=questions, cards=cards, table=_short_table(findings))
    return [lead]


def _short_table(findings: Sequence[Finding]) -> Table | None:
    """For each kind of findings, the gravest first: the frameworks and the topics."""
    rows: list[list[object]] = []
    for kind in KINDS:
        topics: dict[str, dict[str, None]] = {}
        for finding in findings:
            if finding.kind == kind:
                topics.setdefault(framework(finding.measures[0]), {})[finding.topic] = None
        if topics:
            names_only = kind in (UNUSUAL, SAME_NAME)  # their topics are too many for a summary
            frameworks = [
                Markup("<strong>{}</strong>").format(name) + ("" if names_only else f" ({', '.join(of)})")
                for name, of in topics.items()
            ]
            name = Cell(link(f"#{_anchor(kind)}", _title(kind)), is_header=True)
            rows.append([name, Markup(", ").join(frameworks)])
    return Table([], rows, css="short") if rows else None


def _title(kind: str) -> str:
    return kind[0].upper() + kind[1:]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _anchor(kind: str) -> str:
    return "kind-" + kind.replace(",", "").replace(" ", "-")


def _findings(results: AuditResults, findings: Sequence[Finding]) -> list[object]:
    blocks: list[object] = [Heading("Findings", anchor="findings")]
    shown = 0
    for kind in KINDS:
        of_kind = [finding for finding in findings if finding.kind == kind]
        if not of_kind:
            continue
        blocks += [Heading(f"{_title(kind)} ({len(of_kind)})", level=3, anchor=_anchor(kind)), _MEANING[kind]]
        for finding in of_kind:
            blocks.append(_finding(results, finding, shown < _OPEN and kind not in (ROUNDED, UNUSUAL)))
            shown += 1
    return blocks if findings else [*blocks, "Nothing is surprising."]


def _finding(results: AuditResults, finding: Finding, is_open: bool) -> Details:
    frameworks = ", ".join(dict.fromkeys(map(framework, finding.measures)))
    summary = Markup("<strong>{}, {}</strong>: {}.").format(frameworks, finding.topic, finding.sentence)
    measures: dict[str, list[tuple[str, str]]] = {}
    for name in finding.measures:
        evaluator, _, measure = name.partition(" ")
        address = results.inferred[name].page if name in results.inferred else ""
        measures.setdefault(evaluator, []).append((measure, address))
    inside = render("audit_finding.html.j2", case=finding.case, measures=measures)
    return Details(summary, [inside], is_open, css="finding")


def _pipelines(results: AuditResults) -> list[object]:
    heading = Heading("Whole evaluations", anchor="pipelines")
    if not results.pipelines:
        return [heading, "None was run."]
    blocks: list[object] = [
        heading,
        f"Each framework splits, fits and measures {results.started.data} as its documentation shows; the core "
        "measures the same scores again, under the policy that was inferred.",
    ]
    for pipeline in results.pipelines:
        rows = []
        for measure in pipeline.measures:
            first = measure.folds[0] if measure.folds else None
            equal = sum(fold.equal for fold in measure.folds)
            verdict = "equal" if measure.equal else f"{equal} of {len(measure.folds)} folds equal"
            why = " ".join(measure.explanations) or ("" if measure.equal else measure.summary)
            rows.append(
                [
                    measure.measure,
                    measure.metric,
                    "–" if first is None else _number(first.reported),
                    "–" if first is None else _number(first.measured),
                    verdict if measure.folds else "no numbers",
                    why,
                ]
            )
        header = ["measure", "metric", "reported, fold 1", "measured", "", "why"]
        blocks += [Heading(pipeline.name, level=3), f"{pipeline.title}.", Table(header, rows)]
    return blocks


def _number(value: float | None) -> str:
    return "no number" if value is None else f"{value:.10g}"


def _left_out(results: AuditResults) -> list[object]:
    blocks: list[object] = [f"{reason}." for reason in dict.fromkeys(results.started.left_out.values())]
    if results.failed:
        blocks += ["The audit itself failed on these:", Table(["", "error"], list(results.failed.items()))]
    refused: dict[tuple[str, str], list[str]] = {}
    for name, event in results.inferred.items():
        for refusal in event.refused:
            refused.setdefault((refusal.aspect, refusal.message), []).append(name)
    if refused:
        rows = [[aspect, named(names), message] for (aspect, message), names in refused.items()]
        blocks += ["Questions that evaluators refuse to answer:", Table(["aspect", "who", "says"], rows)]
    return [Heading("What was left out", anchor="left-out"), *(blocks or ["Nothing."])]


def _identity(results: AuditResults) -> list[object]:
    started = results.started
    rows = [
        *(
            [
                evaluator.name,
                evaluator.framework_version,
                "in this process" if evaluator.where == "here" else "in its own environment",
            ]
            for evaluator in started.evaluators
        ),
        ["seed", str(started.seed), ""],
        *([name, version, ""] for name, version in started.versions.items() if not name.startswith("framework:")),
    ]
    details = Details("Versions and where evaluators ran", [Table(["", "version", "ran"], rows)])
    return [Heading("Software"), details]
