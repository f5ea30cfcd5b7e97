"""Exports of a finished run: for archives, provenance tools, evaluators of information retrieval, and papers."""

from repro.exports.forms import export, export_forms, exporters

__all__ = ["export", "export_forms", "exporters"]
