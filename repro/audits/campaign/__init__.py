"""Audits of many evaluators: one run folder with a journal, a table of policies and a page for each measure."""
