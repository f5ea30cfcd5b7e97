"""A finished run in the forms of others: archives, provenance tools, evaluators of the field, papers."""

from repro.export.forms import export_forms, export_run, exporters

__all__ = ["export_forms", "export_run", "exporters"]
