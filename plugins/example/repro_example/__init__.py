"""A tutorial: what a plug-in for repro looks like. docs/plugins.md walks through it."""
