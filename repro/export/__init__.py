"""Exports of a finished run: for archives, provenance tools, evaluators of information retrieval, and papers."""

from repro.export.forms import export_forms, export_run, exporters

__all__ = ["export_forms", "export_run", "exporters"]
