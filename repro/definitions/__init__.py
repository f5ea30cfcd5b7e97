"""Definitions of algorithms: what an implementation really computes, and how to make two of them agree.

The definitions are the settings of reference implementations, whose parameters are the decisions of an algorithm.
"""

from repro.definitions.agreement import AlgorithmAgreement
from repro.definitions.alignment import Aligned
from repro.definitions.audit import AlgorithmAudit
from repro.definitions.calls import agree, align, audit
from repro.definitions.named import NAMED
from repro.definitions.result import Definition, Unexplained

__all__ = [
    "NAMED",
    "AlgorithmAgreement",
    "AlgorithmAudit",
    "Aligned",
    "Definition",
    "Unexplained",
    "agree",
    "align",
    "audit",
]
