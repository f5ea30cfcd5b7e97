"""Numbers to conclusions: paired tests, corrections, effect sizes, intervals, and what a metric can tell apart."""
