"""Black boxes: what an evaluator really computes, found out by asking it."""

from repro.audits.black_boxes.black_box import BlackBox, box_of_evaluator
from repro.audits.black_boxes.python_function import CANNOT
from repro.audits.calls import audit, audit_all, check_pipeline, compare
from repro.audits.campaign.audit_results import AuditResults
from repro.audits.comparison.agreement import Agreement
from repro.audits.comparison.pairwise import compare_boxes, compare_evaluators
from repro.audits.examination.examination import infer_policy
from repro.audits.examination.inference import Evidence, Inference, Refused, Unexplained, Unstable
from repro.audits.examination.undetermined import Undetermined
from repro.audits.pipelines.pipeline_audit import PipelineAudit, audit_pipeline

__all__ = [
    "CANNOT",
    "Agreement",
    "AuditResults",
    "BlackBox",
    "Evidence",
    "Inference",
    "PipelineAudit",
    "Refused",
    "Undetermined",
    "Unexplained",
    "Unstable",
    "audit",
    "audit_all",
    "audit_pipeline",
    "box_of_evaluator",
    "check_pipeline",
    "compare",
    "compare_boxes",
    "compare_evaluators",
    "infer_policy",
]
