"""Black boxes: what an evaluator really computes, found out by asking it."""

from repro.audit.black_box import BlackBox, box_of_evaluator
from repro.audit.functions import infer
from repro.audit.infer import infer_policy
from repro.audit.inference import Evidence, Inference, Refused, Unexplained, Unidentifiable, Unstable

__all__ = [
    "BlackBox",
    "Evidence",
    "Inference",
    "Refused",
    "Unexplained",
    "Unidentifiable",
    "Unstable",
    "box_of_evaluator",
    "infer",
    "infer_policy",
]
