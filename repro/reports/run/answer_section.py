"""The answer to the question of the study: about agreement, about gains over a baseline, or about the best algorithm.

The kind follows from the study: where several frameworks have the same algorithm, the answer is about agreement; where
the study names a baseline, it is about gains over it; where neither holds, it is about the best algorithm.
"""

from __future__ import annotations

from repro.reports.html import Paragraph
from repro.reports.run.agreement_answer import agreement_blocks, agreement_sentences
from repro.reports.run.baseline_answer import baseline_blocks, baseline_sentences
from repro.reports.run.best_answer import best_sentences
from repro.reports.run.findings_box import findings_boxes
from repro.reports.run.run_view import RunView
from repro.reports.run.sections import Section
from repro.text import plural


def answer_section(view: RunView) -> Section:
    """The first section that people read: warnings, the answer, what it is about, and its details."""
    sentences, blocks = [], []
    if view.recurring:
        sentences += agreement_sentences(view)
        blocks += agreement_blocks(view)
    if view.baseline is not None:
        sentences += baseline_sentences(view, view.baseline)
        blocks += baseline_blocks(view, view.baseline)
    return Section(
        "answer",
        "Answer",
        [
            *findings_boxes(view),
            *(Paragraph(sentence, css="answer") for sentence in sentences or best_sentences(view)),
            Paragraph(_kind(view), css="kind"),
            *blocks,
        ],
    )


def _kind(view: RunView) -> str:
    """The subject of the answer, and the fact of the study that decides on it."""
    reasons = []
    if view.recurring:
        verb = "comes" if len(view.recurring) == 1 else "come"
        reasons.append(
            f"agreement, as {plural(len(view.recurring), 'algorithm')} of the study {verb} from several frameworks"
        )
    if view.baseline is not None:
        reasons.append("gains over a baseline, as the study names one")
    if not reasons:
        reasons.append(
            "the best algorithm, as no algorithm comes from several frameworks and the study names no baseline"
        )
    return f"The answer is about {'; and about '.join(reasons)}."
