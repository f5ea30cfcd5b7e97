"""Printed tables of papers as drafts of claims: LaTeX, archives of arXiv, CSV and Markdown."""
