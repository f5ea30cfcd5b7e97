"""Black boxes: what an evaluator really computes, found out by asking it."""

from repro.audit.black_boxes.black_box import BlackBox, box_of_evaluator
from repro.audit.comparison.agreement import Agreement
from repro.audit.comparison.pairwise import compare_boxes, compare_evaluators
from repro.audit.examination.examination import infer, infer_policy
from repro.audit.examination.inference import Evidence, Inference, Refused, Unexplained, Unstable
from repro.audit.examination.undetermined import Undetermined
from repro.audit.pipelines.pipeline_audit import PipelineAudit, audit_pipeline

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
    "audit_pipeline",
    "box_of_evaluator",
    "compare_boxes",
    "compare_evaluators",
    "infer",
    "infer_policy",
]
