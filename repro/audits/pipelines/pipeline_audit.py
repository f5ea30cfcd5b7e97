"""A framework's whole evaluation compared with the core: the framework splits and scores, the core measures again.

The scores of each fold are evaluated like those of a study, under a protocol: the policy that was inferred from the
framework's evaluator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repro.audits.examination.inference import as_exact
from repro.audits.pipelines.rescoring import ScoredFold, explanations, rescore
from repro.audits.policies import Policy, protocol_of
from repro.audits.questions.answers import TOLERANCE, close
from repro.data.interactions import Interactions
from repro.errors import PluginError, ReproError, nearest
from repro.evaluation.metrics import metrics, parse_measure
from repro.plugin import Evaluator, Pipeline, plugins
from repro.protocol import Protocol
from repro.text import finite, plural

if TYPE_CHECKING:
    import pandas as pd

Progress = Callable[[str, int, int], None]  # is called with a stage, the steps done and all steps


@dataclass(frozen=True)
class FoldNumbers:
    """The reported number of a fold and that of the core, whether they are equal, and the number of users."""

    fold: int
    reported: float
    measured: float
    users: int
    equal: bool

    @property
    def difference(self) -> float:
        """The reported number minus that of the core; 0 where both are NaN."""
        if math.isnan(self.reported) and math.isnan(self.measured):
            return 0.0
        return self.reported - self.measured

    def to_dict(self) -> dict[str, float]:
        """The numbers as plain data."""
        names = ("fold", "reported", "measured", "difference", "equal", "users")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class AuditedMeasure:
    """A measure of the framework on all folds, compared with the core under a protocol.

    measure       the framework's name of the measure
    metric        the metric with every variant; without a policy, the one that the measure is declared as
    why           why there are no numbers of the core
    decimals      to how many decimals the framework rounds; None where it does not
    explanations  where numbers differ: the decisions that explain it, and aspects that the policy does not explain
    """

    measure: str
    metric: str
    folds: tuple[FoldNumbers, ...] = ()
    protocol: Protocol | None = None
    decimals: int | None = None
    explanations: tuple[str, ...] = ()
    why: str = ""

    @property
    def equal(self) -> bool:
        return bool(self.folds) and all(fold.equal for fold in self.folds)

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        if not self.folds:
            return f"{self.measure}: {self.why}"
        rounded = as_exact(self.decimals)
        if self.equal:
            return f"{self.measure}: equal on {plural(len(self.folds), 'fold')}, as {self.metric}{rounded}"
        largest = max(abs(fold.difference) for fold in self.folds)
        n_differing = sum(not fold.equal for fold in self.folds)
        return (
            f"{self.measure}: differs from {self.metric}{rounded} on {n_differing} of "
            f"{plural(len(self.folds), 'fold')}, by up to {largest:.3g}"
        )


@dataclass(frozen=True, eq=False)
class PipelineAudit:
    """A framework's whole evaluation of a data set, measure by measure."""

    name: str
    title: str
    evaluator: str
    data: str
    seed: int
    measures: tuple[AuditedMeasure, ...]

    @property
    def equal(self) -> bool:
        """Whether all numbers are equal to those of the core."""
        return all(measure.equal for measure in self.measures)

    @property
    def summary(self) -> str:
        """The result in a sentence."""
        n_equal = sum(measure.equal for measure in self.measures)
        return (
            f"{self.name} ({self.title}) on {self.data}: {n_equal} of {len(self.measures)} measures have the numbers "
            f"that the core gives to the same scores under the policy of {self.evaluator}"
        )

    def frame(self) -> pd.DataFrame:
        """A table with a row for each measure and fold."""
        import pandas as pd

        rows = [
            {"measure": measure.measure, "metric": measure.metric, **fold.to_dict()}
            for measure in self.measures
            for fold in measure.folds
        ]
        columns = ["measure", "metric", "fold", "reported", "measured", "difference", "equal", "users"]
        return pd.DataFrame(rows, columns=columns)

    def findings(self) -> str:
        """The summary of each measure, with explanations of differences."""
        lines = []
        for measure in self.measures:
            lines += [measure.summary, *(f"    {text}" for text in measure.explanations)]
        return "\n".join(lines)

    def to_text(self) -> str:
        """The numbers and their explanations as a page of text."""
        width = max((len(measure.measure) for measure in self.measures), default=0)
        lines = [self.summary, ""]
        for measure in self.measures:
            for fold in measure.folds:
                verdict = "equal" if fold.equal else f"off by {fold.difference:.3g}"
                lines.append(
                    f"  {measure.measure:<{width}}  fold {fold.fold}  reported {fold.reported:.10g}, "
                    f"measured {fold.measured:.10g}: {verdict}"
                )
        return "\n".join([*lines, "", self.findings()])

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        return {
            "name": self.name,
            "title": self.title,
            "evaluator": self.evaluator,
            "data": self.data,
            "seed": self.seed,
            "equal": self.equal,
            "measures": [
                {
                    "measure": measure.measure,
                    "metric": measure.metric,
                    "equal": measure.equal,
                    "summary": measure.summary,
                    "decimals": measure.decimals,
                    "protocol_hash": None if measure.protocol is None else measure.protocol.hash,
                    "explanations": list(measure.explanations),
                    "folds": [
                        {name: finite(value) for name, value in fold.to_dict().items()} for fold in measure.folds
                    ],
                }
                for measure in self.measures
            ],
        }

    __str__ = to_text


def audit_pipeline(
    pipeline: Pipeline,
    rows: Interactions,
    policy_of: Callable[[str], Policy | None],
    *,
    data: str = "the data",
    seed: int = 0,
    measures: Collection[str] = (),
    progress: Progress | None = None,
) -> PipelineAudit:
    """Run a framework's whole evaluation, and measure its scores again with the core.

    ``policy_of`` gives the policy of a measure of the pipeline's evaluator. ``measures`` restricts the audit to some of
    the reported measures.
    """
    report = progress or (lambda *_: None)
    evaluator = evaluator_of(pipeline)
    report("the framework's evaluation", 0, 1)
    folds = plugins().run_pipeline(pipeline, rows, seed)
    report("the framework's evaluation", 1, 1)
    scored = [ScoredFold.of(fold, rows, pipeline.name) for fold in folds]
    reported = _selected(pipeline, list(folds[0].reported), measures)
    audited = []
    for done, measure in enumerate(reported):
        report("measures", done, len(reported))
        declared = evaluator.measures[measure].replace("@k", f"@{pipeline.k}")
        audited.append(_audited(measure, declared, policy_of(measure), scored, pipeline.quirks.get(measure)))
    report("measures", len(reported), len(reported))
    return PipelineAudit(pipeline.name, pipeline.summary, evaluator.name, data, seed, tuple(audited))


def evaluator_of(pipeline: Pipeline) -> Evaluator:
    """The evaluator that a pipeline measures with."""
    evaluators = plugins().evaluators()
    if pipeline.evaluator not in evaluators:
        raise PluginError(
            f"{pipeline.name} measures with the evaluator {pipeline.evaluator}, which no plug-in has"
            f"{nearest(pipeline.evaluator, evaluators)}"
        )
    return evaluators[pipeline.evaluator]


def _selected(pipeline: Pipeline, reported: Sequence[str], wanted: Collection[str]) -> list[str]:
    """The reported measures that are wanted; all of them where none is named."""
    if unknown := [name for name in wanted if name not in reported]:
        hint = f"'{unknown[0]}'{nearest(unknown[0], reported)} It reports: {', '.join(reported)}"
        raise PluginError(f"{pipeline.name} reports no {hint}")
    return [name for name in reported if not wanted or name in wanted]


def _audited(
    measure: str, declared: str, policy: Policy | None, folds: Sequence[ScoredFold], quirk: str | None
) -> AuditedMeasure:
    """The numbers of one measure; ``declared`` is the metric that it is declared as."""
    protocol = None if policy is None else protocol_of(policy)
    if policy is None or protocol is None:
        why = "no policy is known for it" if policy is None or isinstance(policy, Protocol) else policy.summary
        return AuditedMeasure(measure, declared, why=why)
    decimals = None if isinstance(policy, Protocol) else policy.decimals
    tolerance = TOLERANCE if decimals is None else 0.5 * 10.0**-decimals + TOLERANCE
    metric = parse_measure(declared, protocol, metrics())
    try:
        rescored = [rescore(fold, declared, protocol) for fold in folds]
    except ReproError as error:
        return AuditedMeasure(measure, metric.full_name, protocol=protocol, why=f"the core has no number: {error}")
    numbers = tuple(
        FoldNumbers(number, reported, core.value, core.users, close(reported, core.value, tolerance))
        for number, (reported, core) in enumerate(
            zip((fold.reported[measure] for fold in folds), rescored, strict=True), start=1
        )
    )
    differing = [fold for fold, of_fold in zip(folds, numbers, strict=True) if not of_fold.equal]
    explained = explanations(metric, measure, differing, protocol, policy, tolerance, quirk) if differing else []
    return AuditedMeasure(measure, metric.full_name, numbers, protocol, decimals, tuple(explained))
