"""The tables of a claim file and their keys: what the reader accepts, and what the reference of claim files prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """A table of a claim file.

    heading   as it is written in the file
    meaning   what it states
    keys      the meaning of each key
    required  keys that must be there
    """

    heading: str
    meaning: str
    keys: Mapping[str, str]
    required: tuple[str, ...] = ()


SETTING = {
    "under": "the name of one of `[protocols]`, in place of `[protocol]`; of numbers that are the mean over several "
    "protocols, a list of their names",
    "set": 'decisions for these numbers alone: `set = { "predict.clip" = "none" }`',
}
OF_DATA = {"data": "the name of one of `[datasets]`, in place of `[data]`"}
CLAIM = Table(
    "the file",
    "What is claimed, and where it was printed. At least one of `table`, `cells`, `facts` and `patterns` is there.",
    {
        "title": "what is claimed",
        "source": "where it was printed",
        "cite": "the citation of the source",
        "url": "the address of the source",
        "notes": "remarks",
        "seeds": "seeds to run; the first is that of the source, further ones show the spread (`[0]` if left out)",
        "data": "the data: a table, or the name alone",
        "datasets": "further data sets by name, for numbers with `data`",
        "frameworks": "versions of frameworks that the source used",
        "protocol": "the protocol, as far as the source states it: a table, or the name of its base alone",
        "protocols": "further protocols by name, for numbers with `under`",
        "algorithms": "the algorithms, as in a study",
        "tune": "the search for parameters, as in a study",
        "examples": "the files of worked examples",
        "systems": "the systems of worked examples",
        "tolerance": "how far a measured number may be from the printed one",
        "table": "printed numbers, a row for each algorithm or system",
        "cells": "printed numbers, one by one",
        "facts": "printed figures of the data",
        "patterns": "comparisons of two numbers",
    },
    ("title", "source"),
)
DATA = Table(
    "[data] and [datasets.NAME]",
    "A data set or a file of the source. Other keys are options for reading it, as in a study.",
    {
        "name": "a data set of `repro data list`, or a file; its path begins in the folder of the claim",
        "digest": "the content digest, which `repro data describe` prints; other data is rejected",
    },
    ("name",),
)
FRAMEWORKS = Table(
    "[frameworks]",
    "Each key is the name of a framework. Its algorithms run in an environment of their own with these versions.",
    {"NAME": 'a list of pins, such as `["scikit-surprise==1.1.4", "numpy==1.26.4"]`'},
)
PROTOCOL = Table(
    "[protocol] and [protocols.NAME]",
    "Decisions, as in a protocol file. Worked examples need no base: they begin with that of `repro evaluate`.",
    {
        "base": "the protocol that the stated decisions differ from",
        "open": 'decisions that the source leaves open, as in `repro multiverse --vary`: `["relevance.threshold=3|4"]`',
    },
)
EXAMPLES = Table(
    "[examples]",
    "Files of worked examples, which need no algorithms, as `repro evaluate` reads them.",
    {"truth": "the held-out rows", "train": "the training rows, if decisions or metrics need them"},
    ("truth",),
)
SYSTEMS = Table(
    "[[systems]]",
    "A system of the worked examples.",
    {"label": "its name in the claim", "run": "the file of its lists"},
    ("label", "run"),
)
TOLERANCE = Table(
    "[tolerance]",
    "How far a measured number may be from the printed one. Tables and cells may have their own, whose keys that are "
    "left out have the values of this one.",
    {
        "kind": "one of the kinds below (`rounding` if left out)",
        "source": "where the tolerance comes from, in words",
        "width": "of kind interval: what the source itself states",
        "decimals": "the number of printed decimals, where zeros at the end were left out",
        "level": "of kind seeds: the coverage of the prediction interval (0.95 if left out)",
        "seeds": "the seeds to run for it (those of the claim if left out)",
    },
)
NUMBERS = Table(
    "[table] or [[table]]",
    "Printed numbers. Every other key is the label of an algorithm or system, with a list of its numbers as text, one "
    'for each metric; `"-"` where nothing is claimed.',
    {
        "metrics": "the metrics of the columns",
        **SETTING,
        **OF_DATA,
        "user": "of worked examples: the user whose numbers these are",
        "tolerance": "a tolerance for this table",
    },
    ("metrics",),
)
CELLS = Table(
    "[[cells]]",
    "A printed number. It names an algorithm or a system.",
    {
        "algorithm": "the label of the algorithm",
        "system": "the label of the system",
        "metric": "the metric, with its cut-off",
        "value": "the number as it is printed, in quotes, so that its digits can be counted; perhaps with its spread: "
        '`"0.400 ± 0.002"` or `"0.400 (0.002)"`',
        **SETTING,
        **OF_DATA,
        "user": "of worked examples: the user whose number it is (the average if left out)",
        "tolerance": "a tolerance for this number",
    },
    ("metric", "value"),
)
FACTS = Table(
    "[[facts]]",
    "A printed figure of the data, of a split, or of the time that an algorithm takes.",
    {
        "name": "one of the figures below",
        "value": "the number as it is printed, in quotes",
        "under": "the name of one of `[protocols]`, in place of `[protocol]`",
        "prepared": "true for the data after the filters of the protocol",
        "fold": "of a split: the name of a fold (the mean over folds if left out)",
        "algorithm": "of a time: the label of the algorithm",
        "factor": "of a time: by which factor it may differ on another machine, such as `3`",
        **OF_DATA,
    },
    ("name", "value"),
)
PATTERNS = Table(
    "[[patterns]]",
    "A comparison of two numbers, which must hold with every seed.",
    {
        "says": "the pattern in words",
        "left": "a number, or an operand",
        "is": "the relation: one of those below",
        "right": "a number, or an operand",
        "within": 'of the relation about: the allowed distance, such as `0.01`, or `"10%"` of the right',
        **OF_DATA,
    },
    ("says", "left", "is", "right"),
)
OPERAND = Table(
    "left and right",
    "An operand of a pattern: a metric of algorithms, or a property of a metric, over all algorithms: one of `dp`, "
    "`tau`, `sparsity` and `popularity`. All metrics have a cut-off.",
    {
        "algorithm": "the label, several labels, or a pattern with `*`: it must hold for each, or see `take`",
        "metric": "the metric, with its cut-off",
        "dp": "in place of algorithm and metric: the discriminative power of this metric over all algorithms",
        "tau": "in place of algorithm and metric: Kendall's tau between the orders of all algorithms by two metrics, "
        '`["ndcg@5", "ndcg@100"]`',
        "sparsity": "in place of algorithm and metric: Kendall's tau between the order by this metric and its order "
        "with a random `share` of the held-out ratings, the mean over 50 samples",
        "popularity": "in place of algorithm and metric: Kendall's tau between the order by this metric and its order "
        "without the ratings of the `share` of held-out items that have most of them",
        "share": "of sparsity, the share of the ratings that are kept; of popularity, of the items that are removed",
        **SETTING,
        "times": "a factor (`1` if left out)",
        "take": "of several algorithms: one of the choices below (`each` if left out)",
    },
)
TABLES = (
    *(CLAIM, DATA, FRAMEWORKS, PROTOCOL, EXAMPLES, SYSTEMS, TOLERANCE, NUMBERS),
    *(CELLS, FACTS, PATTERNS, OPERAND),
)

KINDS = {
    "rounding": "the number rounds to the printed digits",
    "seeds": "the printed number is one more run: it lies in the prediction interval of the runs with each seed",
    "interval": "the number lies within `width` of the printed one, plus rounding",
}
RELATIONS = {
    "<": "less than",
    "<=": "at most",
    ">": "more than",
    ">=": "at least",
    "about": "at most `within` away",
}
TAKES = {
    "each": "the pattern holds for each of them",
    "min": "the lowest number",
    "max": "the highest number",
    "mean": "the mean of the numbers",
}
