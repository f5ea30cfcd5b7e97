"""The interface for authors of plug-ins: hooks, classes, evaluators, scores, and helpers that plug-ins share."""
