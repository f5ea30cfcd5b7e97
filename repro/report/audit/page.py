"""The report of an audit of evaluators: one HTML file, the findings first; it needs nothing but the pages beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from repro.audit.campaign.audit_results import Survey, is_random
from repro.audit.campaign.audit_run import REPORT
from repro.report.audit.findings import APART, KINDS, ROUNDED, UNUSUAL, Finding, Shown, findings_of, named
from repro.report.audit.matrices import agreement_section
from repro.report.audit.policy_table import policy_section
from repro.report.audit.style import STYLE
from repro.report.pages import document
from repro.runs.written_files import keep_files

_OPEN = 6  # findings that are shown at once
_MEANING = {
    "outside the range": "A number that the metric cannot have.",
    "random": "The same question, asked again, has another answer.",
    "order of rows": "The same rows in another order have another answer.",
    "unexplained": "No policy in the space of decisions gives these answers; the closest one is off.",
    "rounded": "What is printed is all that can be had.",
    "one name, two numbers": "Two ways to call one framework, one name of a measure, and different numbers.",
    "unusual": "A choice that most frameworks make otherwise.",
}


def write_audit_report(survey: Survey) -> Path:
    """Write ``report.html`` into the folder of the audit; its path."""
    keep_files(survey.folder, {REPORT: render(survey).encode()})
    return survey.folder / REPORT


def render(survey: Survey) -> str:
    """The report as HTML."""
    findings = findings_of(survey)
    title = "What evaluators really compute"
    body = [
        f"<h1>{title}</h1>",
        *_lead(survey, findings),
        *_findings(survey, findings),
        *policy_section(survey),
        *agreement_section(survey),
        *_pipelines(survey),
        *_left_out(survey),
        *_identity(survey),
    ]
    return document(title, STYLE, body)


def headline(survey: Survey) -> dict[str, int]:
    """The numbers that sum an audit up."""
    events = survey.inferred.values()
    random = sum(is_random(event) for event in events)
    explained = sum(event.status == "explained" for event in events)
    no_policy = sum(not event.policy for event in events) - random
    measures = [one for pipeline in survey.pipelines for one in pipeline.measures]
    return {
        "frameworks": len({one.name.partition("/")[0] for one in survey.began.evaluators}),
        "evaluators": len(survey.began.evaluators),
        "measures": len(survey.measures),
        "explained": explained,
        "explained_but": len(events) - explained - no_policy - random,
        "no_policy": no_policy,
        "random": random,
        "failed": len(survey.measures) - len(events),
        "pairs": sum(one.compared for one in survey.compared),
        "pairs_agreeing": sum(one.agreeing for one in survey.compared),
        "pipeline_measures": len(measures),
        "pipeline_measures_equal": sum(one.equal for one in measures),
    }


def _lead(survey: Survey, findings: Sequence[Finding]) -> list[str]:
    """The point, in numbers and in a few sentences."""
    told = headline(survey)
    cards = [
        (_share(told["pairs_agreeing"], told["pairs"]), "of pairs that bear the name of one metric agree"),
        (f"{told['explained']} of {told['measures']}", "measures follow one policy in all that they can be asked"),
        (f"{told['explained_but']}", "do so but for something that no policy explains"),
        (f"{told['no_policy']}", "follow no policy that is known, not even for plain lists"),
        (f"{told['random']}", "give random answers"),
    ]
    if told["pipeline_measures"]:
        equal = f"{told['pipeline_measures_equal']} of {told['pipeline_measures']}"
        cards.append((equal, "numbers of whole evaluations are those that the core gives"))
    shown = "".join(f"<li><strong>{escape(value)}</strong> {escape(what)}</li>" for value, what in cards)
    asked = sum(event.asked for event in survey.inferred.values())
    return [
        f'<p class="lead">{told["measures"]} measures of {told["evaluators"]} evaluators in {told["frameworks"]} '
        f"frameworks were asked {asked:,} small questions. Every policy that would have answered otherwise was "
        "discarded; the one that is left was tried on 200 fresh random cases, and then attacked with larger and odder "
        "ones, which had every pair of aspects together.</p>",
        f'<ul class="cards">{shown}</ul>',
        _in_short(findings),
        '<p class="nav"><a href="#findings">Findings</a> <a href="#policies">Policies</a> '
        '<a href="#agreement">Who agrees with whom</a> <a href="#pipelines">Whole evaluations</a> '
        '<a href="#left-out">What was left out</a></p>',
    ]


def _in_short(findings: Sequence[Finding]) -> str:
    """For each kind of findings, the gravest first, which frameworks they are about and what of these."""
    rows = []
    for kind in KINDS:
        topics: dict[str, dict[str, None]] = {}
        for one in findings:
            if one.kind == kind:
                topics.setdefault(one.measures[0].partition("/")[0], {})[one.topic] = None
        plain = kind in (UNUSUAL, APART)  # too many to be told here
        who = [
            f"<strong>{escape(name)}</strong>" + ("" if plain else f" ({escape(', '.join(of))})")
            for name, of in topics.items()
        ]
        link = f'<a href="#{_anchor(kind)}">{_title(kind)}</a>'
        rows += [f'<tr><th scope="row">{link}</th><td>{", ".join(who)}</td></tr>'] if who else []
    return f'<div class="wide"><table class="short"><tbody>{"".join(rows)}</tbody></table></div>' if rows else ""


def _title(kind: str) -> str:
    return kind[0].upper() + kind[1:]


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.0%}" if whole else "–"


def _anchor(kind: str) -> str:
    return "kind-" + kind.replace(",", "").replace(" ", "-")


def _findings(survey: Survey, findings: Sequence[Finding]) -> list[str]:
    lines = ['<h2 id="findings">Findings</h2>']
    shown = 0
    for kind in KINDS:
        of_kind = [one for one in findings if one.kind == kind]
        if not of_kind:
            continue
        lines += [f'<h3 id="{_anchor(kind)}">{_title(kind)} ({len(of_kind)})</h3>', f"<p>{_MEANING[kind]}</p>"]
        for one in of_kind:
            lines.append(_finding(survey, one, shown < _OPEN and kind not in (ROUNDED, UNUSUAL)))
            shown += 1
    return lines if findings else [*lines, "<p>Nothing is surprising.</p>"]


def _finding(survey: Survey, one: Finding, is_open: bool) -> str:
    case = "" if one.case is None else shown_case(one.case)
    frameworks = ", ".join(dict.fromkeys(name.partition("/")[0] for name in one.measures))
    summary = f"<strong>{escape(frameworks)}, {escape(one.topic)}</strong>: {escape(one.sentence)}."
    opened = " open" if is_open else ""
    about = f"<p>{_linked(survey, one.measures)}</p>"
    return f'<details class="finding"{opened}><summary>{summary}</summary>{case}{about}</details>'


def _linked(survey: Survey, measures: Sequence[str]) -> str:
    """Measures with links to their pages, those of an evaluator together."""
    found: dict[str, list[str]] = {}
    for name in measures:
        evaluator, _, measure = name.partition(" ")
        page = survey.inferred[name].page if name in survey.inferred else ""
        found.setdefault(evaluator, []).append(
            f'<a href="{escape(page)}">{escape(measure)}</a>' if page else escape(measure)
        )
    return "<br>".join(f"{escape(evaluator)}: {', '.join(links)}" for evaluator, links in found.items())


def shown_case(case: Shown) -> str:
    """A case and the answers to it."""
    answers = "; ".join(f"{escape(who)} <strong>{escape(answer)}</strong>" for who, answer in case.answers)
    return f"<pre>{escape(case.question)}</pre>" + (f"<p>{answers}</p>" if answers else "")


def _pipelines(survey: Survey) -> list[str]:
    lines = ['<h2 id="pipelines">Whole evaluations</h2>']
    if not survey.pipelines:
        return [*lines, "<p>None was run.</p>"]
    lines.append(
        f"<p>Each framework splits, fits and measures {escape(survey.began.data)} as its documentation shows; the core "
        "measures the same scores again, under the policy that was inferred.</p>"
    )
    for one in survey.pipelines:
        rows = []
        for measure in one.measures:
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
        head = ["measure", "metric", "reported, fold 1", "measured", "", "why"]
        lines += [f"<h3>{escape(one.name)}</h3>", f"<p>{escape(one.title)}.</p>", table(head, rows)]
    return lines


def _number(value: float | None) -> str:
    return "no number" if value is None else f"{value:.10g}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A plain table; text is escaped."""
    top = "".join(f'<th scope="col">{escape(name)}</th>' for name in head)
    lines = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table></div>'


def _left_out(survey: Survey) -> list[str]:
    lines = ['<h2 id="left-out">What was left out</h2>']
    lines += [f"<p>{escape(reason)}.</p>" for reason in dict.fromkeys(survey.began.left_out.values())]
    if survey.failed:
        lines += ["<p>The audit itself failed on these:</p>", table(["", "error"], list(survey.failed.items()))]
    refused: dict[tuple[str, str], list[str]] = {}
    for name, event in survey.inferred.items():
        for one in event.refused:
            refused.setdefault((one.aspect, one.message), []).append(name)
    if refused:
        rows = [[aspect, named(names), message] for (aspect, message), names in refused.items()]
        lines += ["<p>What evaluators refuse to answer:</p>", table(["aspect", "who", "says"], rows)]
    return lines if len(lines) > 1 else [*lines, "<p>Nothing.</p>"]


def _identity(survey: Survey) -> list[str]:
    began = survey.began
    rows = [
        *(
            [one.name, one.framework_version, "in this process" if one.where == "here" else "in its own environment"]
            for one in began.evaluators
        ),
        ["seed", str(began.seed), ""],
        *([name, version, ""] for name, version in began.versions.items() if not name.startswith("framework:")),
    ]
    details = table(["", "version", "ran"], rows)
    return ["<h2>Software</h2>", f"<details><summary>Versions and where evaluators ran</summary>{details}</details>"]
