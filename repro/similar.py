"""The name that was probably meant: by spelling, by words, and by the words of other tools."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

# Longer names are not misspelt names, and take long to compare.
_LONGEST = 200
# Of more names than this, only the spelling is compared.
_MANY = 2_000
_LEAST = 0.5
_EXCHANGED = 0.9  # the likeness of names with the same letters in another order
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

# What pandas, scikit-learn, RecBole, LensKit, Surprise, Elliot and others call a thing, without its separators, and
# our names for it: the first of them that is allowed at that place is meant.
_ELSEWHERE: dict[tuple[str, ...], tuple[str, ...]] = {
    ("test", "testsize", "testfraction", "testshare", "testpercentage", "trainsize", "trainratio", "splitratio"): (
        "split.test_ratio",
    ),
    ("validation", "val", "valid", "valsize", "validsize", "valratio", "validationsize", "validationfraction"): (
        "split.validation_ratio",
        "split.validation_share",
    ),
    ("nsplits", "kfold", "kfolds", "nfolds", "numfolds", "cv", "partitions", "crossvalidation"): (
        "split.folds",
        "kfold",
    ),
    ("nrepeats", "repetitions", "nrepetitions"): ("split.repeats",),
    ("groupby", "splitby", "splitter", "splitmethod", "splittype"): ("split.strategy",),
    ("shuffle", "ordering", "rgorder"): ("split.order",),
    ("leaveoneout", "loo", "leaveonelastitem", "ls", "lastitem"): ("leave-one-last",),
    ("timestamp", "splittime", "timepoint", "splittimestamp", "cutofftime"): ("split.time",),
    ("temporal", "temporalsplit", "timebased", "temporalglobal"): ("time-split", "time-ratio"),
    ("randomsplit", "random", "traintestsplit", "ratiosplit"): ("random-80-20", "ratio"),
    ("threshold", "ratingthreshold", "positivethreshold", "relevancethreshold", "relthreshold", "minrelevant"): (
        "relevance.threshold",
    ),
    ("negatives", "numnegatives", "nnegatives", "negsamples", "numneg", "negsamplesize", "nneg"): (
        "candidates.sample_size",
    ),
    ("excludeseen", "filterseen", "removeseen", "filteralreadylikeditems", "removetrain", "excludeknown"): (
        "candidates.exclude_train",
    ),
    ("ties", "tiebreak", "tiebreaking", "tiebreaker"): ("ties.break",),
    ("dedup", "duplicated", "dropduplicates", "rmdupinter", "aggregate"): ("data.duplicates",),
    ("kcore", "minuserratings", "minuserinteractions", "userinternuminterval", "minratingsperuser"): (
        "data.user_core",
    ),
    ("minitemratings", "miniteminteractions", "iteminternuminterval", "minratingsperitem"): ("data.item_core",),
    ("randomstate", "randomseed", "rng", "rngseed", "reproducibility"): ("seed",),
    ("topk", "topn", "cutoff", "cutoffs", "ks", "atk"): ("at", "metrics"),
    ("validmetric", "valmetric", "earlystopmetric", "optimisedmetric", "optimizedmetric", "metricforoptuna"): (
        "metric",
        "tune",
    ),
    ("ntrials", "maxevals", "niter", "hypermaxevals"): ("trials", "tune"),
    ("hyperparameters", "hyperopt", "gridsearch", "paramgrid", "searchspace"): ("space", "tune"),
    ("params", "kwargs", "config", "hyperparams", "args", "options", "settings", "meta"): ("parameters",),
    ("model", "models", "algo", "algos", "algorithm", "recommenders", "recommender"): ("use", "algorithms"),
    ("dataset", "datasets", "datapath", "file", "input", "ratings", "interactions"): ("data",),
    ("evalargs", "evaluation", "evalsetting", "splitting", "evaluationsetting"): ("protocol",),
    ("measures", "measure", "simplemetrics", "evalmetrics", "evaluators"): ("metrics",),
    ("title", "description", "comment"): ("question",),
    ("name", "id", "alias"): ("label",),
}
_OURS = {word: ours for words, ours in _ELSEWHERE.items() for word in words}


def most_similar(unknown: str, known: Iterable[str]) -> str | None:
    """The one of the ``known`` names that was probably meant; None where none is near."""
    unknown = unknown[:_LONGEST]
    names = [name for name in known if len(name) <= _LONGEST]
    if meant := _meant_elsewhere(unknown, names):
        return meant
    if len(names) > _MANY:
        close = difflib.get_close_matches(unknown, names, n=1, cutoff=_LEAST)
    else:
        similar = {name: _similarity(unknown, name) for name in names}
        highest = max(similar.values(), default=0.0)
        near = [name for name in names if similar[name] == highest >= _LEAST]
        close = sorted(near, key=lambda name: -difflib.SequenceMatcher(None, unknown, name).ratio())  # with the case
    if not close:
        close = [name for name in names if unknown and unknown in name][:1]
    return close[0] if close else None


def _meant_elsewhere(unknown: str, names: Sequence[str]) -> str | None:
    """The name for what other tools call ``unknown``; a name that is nearly right is left to its spelling."""
    leaf = unknown.rpartition(".")[2]
    ours = _OURS.get(_plain(leaf), ())
    if any(_plain(unknown) == _plain(name) for name in names):
        return None
    return next((name for own in ours for name in names if name == own or name.endswith(f".{own}")), None)


def _plain(name: str) -> str:
    return re.sub(r"[\s_.-]", "", name).lower()


def _similarity(unknown: str, name: str) -> float:
    """From 0 to 1: the higher of the likeness of letters, and the mean of it and the likeness of words."""
    spelling = difflib.SequenceMatcher(None, unknown.lower(), name.lower()).ratio()
    if sorted(unknown.lower()) == sorted(name.lower()):
        spelling = max(spelling, _EXCHANGED)
    first, second = _words(unknown), _words(name)
    if len(first) < 2 and len(second) < 2:
        return spelling
    matched = sum(max((_likeness(word, other) for other in second), default=0.0) for word in first)
    words = 2 * matched / (len(first) + len(second)) if first and second else 0.0
    # A last word that is right says more than a first one: ties.brek and split.brek both mean the break.
    last = _likeness(first[-1], second[-1]) if first and second else 0.0
    return max(spelling, min(1.0, (spelling + words + last) / 3)) if words else spelling


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(name)]


def _likeness(word: str, other: str) -> float:
    """1 for the same word, less for the beginning of one and for a misspelt one, else 0."""
    if word == other:
        return 1.0
    if len(word) >= 3 and len(other) >= 3 and (word.startswith(other) or other.startswith(word)):
        return 0.9
    ratio = difflib.SequenceMatcher(None, word, other).ratio()
    return ratio if ratio >= 0.7 else 0.0
