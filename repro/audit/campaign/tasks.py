"""The tasks of an audit of many evaluators; any process can run them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from repro.audit.black_boxes.black_box import BlackBox, box_of_evaluator
from repro.audit.comparison.agreement import Agreement
from repro.audit.comparison.pairwise import compare_boxes
from repro.audit.examination.infer import infer_policy
from repro.audit.examination.inference import Inference
from repro.audit.pipelines.pipeline_audit import PipelineAudit, audit_pipeline
from repro.audit.policies import RecordedPolicy
from repro.data import load_dataset
from repro.plugin import plugins


@dataclass(frozen=True)
class InferMeasure:
    """Infer the policy of a measure; ``name`` is that of its black box, ``framework/evaluator measure``."""

    name: str
    seed: int

    @property
    def framework(self) -> str:
        return self.name.partition("/")[0]

    def run(self) -> Inference:
        return infer_policy(_box(self.name), seed=self.seed)


@dataclass(frozen=True)
class CompareMeasures:
    """Compare the measures that are declared as a metric; they belong to several frameworks."""

    name: str
    measures: tuple[str, ...]
    seed: int
    policies: Mapping[str, RecordedPolicy]
    framework: str = ""

    def run(self) -> Agreement:
        return compare_boxes([_box(name) for name in self.measures], seed=self.seed, policies=self.policies)


@dataclass(frozen=True)
class AuditPipeline:
    """Compare a framework's whole evaluation of a data set with the core, in those ``measures`` of its evaluator."""

    name: str
    data: str
    measures: tuple[str, ...]
    seed: int
    policies: Mapping[str, RecordedPolicy]

    @property
    def framework(self) -> str:
        return self.name.partition("/")[0]

    def run(self) -> PipelineAudit:
        pipeline = plugins().pipelines()[self.name]
        audit = audit_pipeline(
            pipeline,
            load_dataset(self.data),
            lambda measure: self.policies.get(f"{pipeline.evaluator} {measure}"),
            data=self.data,
            seed=self.seed,
        )
        measures = (measure for measure in audit.measures if f"{pipeline.evaluator} {measure.measure}" in self.measures)
        return replace(audit, measures=tuple(measures))


Task = InferMeasure | CompareMeasures | AuditPipeline
TaskValue = Inference | Agreement | PipelineAudit


def _box(name: str) -> BlackBox:
    evaluator, _, measure = name.partition(" ")
    return box_of_evaluator(plugins().evaluators()[evaluator], measure)
