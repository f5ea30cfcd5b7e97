"""Black boxes: what an evaluator really computes, found out by asking it."""

from repro.audit.agreement import Agreement
from repro.audit.black_box import BlackBox, box_of_evaluator
from repro.audit.compare import compare_boxes, compare_evaluators
from repro.audit.determined import Undetermined
from repro.audit.functions import infer
from repro.audit.infer import infer_policy
from repro.audit.inference import Evidence, Inference, Refused, Unexplained, Unstable
from repro.audit.pipeline import PipelineAudit, audit_pipeline

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
