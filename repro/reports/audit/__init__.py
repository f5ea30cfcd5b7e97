"""Pages about an audit of evaluators."""

from repro.reports.audit.audit_findings import Finding, findings_of
from repro.reports.audit.audit_page import headline, write_audit_report

__all__ = ["Finding", "findings_of", "headline", "write_audit_report"]
