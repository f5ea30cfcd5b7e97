"""The command that audits evaluators."""
