"""Verdicts on printed numbers, worked examples, figures of data sets and patterns, and the files that hold them."""
