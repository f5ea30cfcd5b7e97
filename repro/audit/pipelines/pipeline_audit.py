"""A framework's whole evaluation held against the core: its own split and its own scores, and then the core's numbers.

The scores of each fold go the way of every study (:mod:`repro.study`): judged, listed, ranked, measured and averaged
as a protocol says, which is the policy that was inferred of the framework's evaluator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from repro.audit.black_boxes.black_box import TOLERANCE, close
from repro.audit.examination.inference import as_exact, finite
from repro.audit.pipelines.explanations import explanations
from repro.audit.pipelines.rescoring import ScoredFold, rescore
from repro.audit.policies import Policy, protocol_of
from repro.data.interactions import Interactions
from repro.errors import PluginError, ReproError, nearest
from repro.evaluation.metrics import metrics, parse_measure
from repro.plugin import Evaluator, Pipeline, plugins
from repro.protocol import Protocol

if TYPE_CHECKING:
    import pandas as pd

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True)
class FoldNumbers:
    """What a framework reported of a fold, what the core gives, of how many users, and whether that is the same."""

    fold: int
    reported: float
    measured: float
    users: int
    equal: bool

    @property
    def difference(self) -> float:
        """By how much the report is above the core; 0 where both are no number."""
        if math.isnan(self.reported) and math.isnan(self.measured):
            return 0.0
        return self.reported - self.measured


@dataclass(frozen=True, eq=False)
class AuditedMeasure:
    """A measure of the framework on all folds, and the core's under a protocol.

    measure       the framework's own name
    metric        the core's, with every variant; or the one that the measure is taken for, where there is no policy
    why           why there are no numbers of the core
    decimals      to how many decimals the framework rounds; None where it does not
    explanations  where numbers differ: what explains it, or what of the policy is in doubt here
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
        """The finding in a sentence."""
        if not self.folds:
            return f"{self.measure}: {self.why}"
        rounded = as_exact(self.decimals)
        if self.equal:
            return f"{self.measure}: equal on {_folds(len(self.folds))}, as {self.metric}{rounded}"
        most = max(abs(fold.difference) for fold in self.folds)
        apart = sum(not fold.equal for fold in self.folds)
        return (
            f"{self.measure}: differs from {self.metric}{rounded} on {apart} of {_folds(len(self.folds))}, "
            f"by up to {most:.3g}"
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
        """Whether all numbers are."""
        return all(one.equal for one in self.measures)

    @property
    def summary(self) -> str:
        equal = sum(one.equal for one in self.measures)
        return (
            f"{self.name} ({self.title}) on {self.data}: {equal} of {len(self.measures)} measures have the numbers "
            f"that the core gives to the same scores under the policy of {self.evaluator}"
        )

    def frame(self) -> pd.DataFrame:
        """One row for each measure and fold."""
        import pandas as pd

        rows = [
            {
                "measure": one.measure,
                "metric": one.metric,
                "fold": fold.fold,
                "reported": fold.reported,
                "measured": fold.measured,
                "difference": fold.difference,
                "equal": fold.equal,
                "users": fold.users,
            }
            for one in self.measures
            for fold in one.folds
        ]
        columns = ["measure", "metric", "fold", "reported", "measured", "difference", "equal", "users"]
        return pd.DataFrame(rows, columns=columns)

    def findings(self) -> str:
        """Of each measure, whether its numbers are equal; and if not, what explains it."""
        lines = []
        for one in self.measures:
            lines += [one.summary, *(f"    {text}" for text in one.explanations)]
        return "\n".join(lines)

    def to_text(self) -> str:
        """The numbers and what is to be said of them, as a page to be read."""
        width = max((len(one.measure) for one in self.measures), default=0)
        lines = [self.summary, ""]
        for one in self.measures:
            for fold in one.folds:
                told = "equal" if fold.equal else f"off by {fold.difference:.3g}"
                lines.append(
                    f"  {one.measure:<{width}}  fold {fold.fold}  reported {fold.reported:.10g}, "
                    f"measured {fold.measured:.10g}: {told}"
                )
        return "\n".join([*lines, "", self.findings()])

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for scripts."""
        return {
            "name": self.name,
            "title": self.title,
            "evaluator": self.evaluator,
            "data": self.data,
            "seed": self.seed,
            "equal": self.equal,
            "measures": [
                {
                    "measure": one.measure,
                    "metric": one.metric,
                    "equal": one.equal,
                    "summary": one.summary,
                    "decimals": one.decimals,
                    "protocol_hash": None if one.protocol is None else one.protocol.hash,
                    "explanations": list(one.explanations),
                    "folds": [
                        {
                            "fold": fold.fold,
                            "reported": finite(fold.reported),
                            "measured": finite(fold.measured),
                            "difference": finite(fold.difference),
                            "equal": fold.equal,
                            "users": fold.users,
                        }
                        for fold in one.folds
                    ],
                }
                for one in self.measures
            ],
        }

    def __str__(self) -> str:
        return self.to_text()


def audit_pipeline(
    pipeline: Pipeline,
    rows: Interactions,
    policy_of: Callable[[str], Policy | None],
    *,
    data: str = "the data",
    seed: int = 0,
    measures: Collection[str] = (),
    tell: Tell | None = None,
) -> PipelineAudit:
    """Run a framework's whole evaluation, and measure its scores again by the core.

    ``policy_of`` gives the policy by which a measure of the pipeline's evaluator is had. ``measures`` are those that
    are looked at, by default all that are reported. ``tell`` is called with what is being done, and how much of it is.
    """
    say = tell or (lambda *_: None)
    evaluator = evaluator_of(pipeline)
    say("the framework's evaluation", 0, 1)
    folds = plugins().run_pipeline(pipeline, rows, seed)
    say("the framework's evaluation", 1, 1)
    scored = [ScoredFold.of(fold, rows, pipeline.name) for fold in folds]
    reported = _asked(pipeline, list(folds[0].reported), measures)
    audited = []
    for done, measure in enumerate(reported):
        say("measures", done, len(reported))
        meant = evaluator.measures[measure].replace("@k", f"@{pipeline.k}")
        audited.append(_audited(measure, meant, policy_of(measure), scored, pipeline.quirks.get(measure)))
    say("measures", len(reported), len(reported))
    return PipelineAudit(pipeline.name, pipeline.summary, evaluator.name, data, seed, tuple(audited))


def evaluator_of(pipeline: Pipeline) -> Evaluator:
    """The evaluator that does the measuring in a pipeline."""
    known = plugins().evaluators()
    if pipeline.evaluator not in known:
        raise PluginError(
            f"{pipeline.name} is measured by {pipeline.evaluator}, and there is no such evaluator"
            f"{nearest(pipeline.evaluator, known)}"
        )
    return known[pipeline.evaluator]


def _asked(pipeline: Pipeline, reported: Sequence[str], wanted: Collection[str]) -> list[str]:
    if unknown := [one for one in wanted if one not in reported]:
        told = f"'{unknown[0]}'{nearest(unknown[0], reported)} It reports: {', '.join(reported)}"
        raise PluginError(f"{pipeline.name} reports no {told}")
    return [one for one in reported if not wanted or one in wanted]


def _audited(
    measure: str, meant: str, policy: Policy | None, folds: Sequence[ScoredFold], quirk: str | None
) -> AuditedMeasure:
    """The numbers of one measure; ``meant`` is the metric that it is taken for."""
    protocol = None if policy is None else protocol_of(policy)
    if policy is None or protocol is None:
        why = "no policy is known for it" if policy is None or isinstance(policy, Protocol) else policy.summary
        return AuditedMeasure(measure, meant, why=why)
    decimals = None if isinstance(policy, Protocol) else policy.decimals
    tolerance = TOLERANCE if decimals is None else 0.5 * 10.0**-decimals + TOLERANCE
    asked = parse_measure(meant, protocol, metrics())
    try:
        numbers = tuple(_numbers(place, fold, measure, meant, protocol, tolerance) for place, fold in enumerate(folds))
    except ReproError as error:
        return AuditedMeasure(measure, asked.full_name, protocol=protocol, why=f"the core has no number: {error}")
    apart = [fold for fold, number in zip(folds, numbers, strict=True) if not number.equal]
    explained = explanations(asked, measure, apart, protocol, policy, tolerance, quirk) if apart else []
    return AuditedMeasure(measure, asked.full_name, numbers, protocol, decimals, tuple(explained))


def _numbers(
    place: int, fold: ScoredFold, measure: str, meant: str, protocol: Protocol, tolerance: float
) -> FoldNumbers:
    rescored = rescore(fold, meant, protocol)
    reported = fold.reported[measure]
    return FoldNumbers(place + 1, reported, rescored.value, rescored.users, close(reported, rescored.value, tolerance))


def _folds(number: int) -> str:
    return "1 fold" if number == 1 else f"{number} folds"
