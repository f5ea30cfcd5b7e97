"""What authors of plug-ins read: the hooks, the interfaces, evaluators, scores, and helpers that plug-ins share."""
