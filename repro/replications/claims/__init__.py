"""Claim files: the model, the reader, printed numbers with their tolerances, and drafts of new claims."""
