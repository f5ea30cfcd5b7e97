"""Black boxes: what an evaluator really computes, found out by asking it."""

from repro.audits.black_boxes.black_box import BlackBox, box_of_evaluator
from repro.audits.comparison.agreement import Agreement
from repro.audits.comparison.pairwise import compare_boxes, compare_evaluators
from repro.audits.examination.examination import audit, infer_policy
from repro.audits.examination.inference import Evidence, Inference, Refused, Unexplained, Unstable
from repro.audits.examination.undetermined import Undetermined
from repro.audits.pipelines.pipeline_audit import PipelineAudit, audit_pipeline

__all__ = [
    "Agreement",
    "BlackBox",
    "Evidence",
    "Inference",
    "PipelineAudit",
    "Refused",
    "Undetermined",
    "Unexplained",
    "Unstable",
    "audit",
    "audit_pipeline",
    "box_of_evaluator",
    "compare_boxes",
    "compare_evaluators",
    "infer_policy",
]
