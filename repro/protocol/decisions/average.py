"""Decisions on averages: which users and folds are averaged, and how."""

from typing import Any

from repro.protocol.decision import AnyOf, Decision, Option, When

_NOT_POOLED = When("average.over", other_than=("pooled",))
_REPEATS = 'use "no-relevant", which means the same here'


def _unlike_no_relevant(value: str) -> When:
    """The condition that ``average.no_relevant`` does not have this value already."""
    return When("average.no_relevant", other_than=(value,))


def _not_repeated(value: str, meaning: str, text: str, *conditions: When, **fields: Any) -> Option:
    """An option that applies where ``average.no_relevant`` has another value."""
    return Option(value, meaning, text, when=(*conditions, _unlike_no_relevant(value)), instead=_REPEATS, **fields)


# In 1R a user without relevant items has no list, and can only count where users are averaged.
_COUNTED = AnyOf(When("candidates.relevant", ("all",)), When("average.over", ("users",)))
_ADDS_NOTHING = 'a user without relevant items adds nothing to this average; use "skip"'
_NO_PART = 'a pooled average has no values of users; use "no-relevant"'

DECISIONS = (
    Decision.choice(
        "average.folds",
        "How are folds joined?",
        Option("mean", "each fold's number counts the same", "the means over folds, each of which counted the same"),
        Option(
            "pooled",
            "the folds' users (or lists, or pairs) are averaged together",
            "averages over the users of all folds together",
            searchable=False,
        ),
        sentence="The numbers reported are {value}.",
    ),
    Decision.choice(
        "average.over",
        "What is averaged?",
        Option(
            "users",
            "the lists of a user first, then the users: each user counts once",
            "averaged over users, each of whom counted once",
        ),
        Option(
            "lists",
            "all lists: in 1R, every pair of a user and a relevant item counts once",
            "averaged over lists, so that users counted by the number of theirs",
            cite="Bellogín 2012, eq. 4.1",
            when=(AnyOf(When("candidates.relevant", ("one",)), When("average.folds", ("pooled",))),),
            instead='a user has one list here; use "users", which means the same',
        ),
        Option(
            "pooled",
            "nothing: the sum of the numerators over the sum of the denominators",
            "computed over all users at once, as a sum of numerators over a sum of denominators",
            used_by=("implicit",),
        ),
        sentence="Metrics of lists were {value}.",
    ),
    Decision.choice(
        "average.no_relevant",
        "What does a test user without relevant items count (with a list or, unless average.neither differs, without)?",
        Option("skip", "nothing: left out of the average", "were left out of the average"),
        Option("zero", "0", "counted with a value of 0", when=(_NOT_POOLED, _COUNTED), instead=_ADDS_NOTHING),
        Option("one", "1", "counted with a value of 1", when=(_NOT_POOLED, _COUNTED), instead=_ADDS_NOTHING),
        Option(
            "nan",
            "not a number: it spoils the average, as some frameworks have it",
            "A test user without a relevant item made the average undefined.",
            gives_number=False,
            when=(AnyOf(When("candidates.relevant", ("all",)), When("average.over", other_than=("lists",))),),
            instead=_ADDS_NOTHING,
        ),
        sentence="Test users without a relevant item {value}.",
    ),
    Decision.choice(
        "average.no_list",
        "What does a test user with relevant items count whose list is empty?",
        Option(
            "zero",
            "what the metric makes of an empty list: the worst, 0 for most",
            "counted with the value of an empty list, which is 0 for most metrics",
        ),
        Option("skip", "nothing: left out of the average", "were left out of the average"),
        acts_on=("no-list", "partial-lists", "missing", "non-positive", "infinite", "fallback"),
        sentence="Test users with an empty list {value}.",
    ),
    Decision.choice(
        "average.neither",
        "What does a test user count who has neither a list nor relevant items?",
        Option("no-relevant", "what average.no_relevant says", "counted like other users without a relevant item"),
        Option(
            "no-list",
            'what average.no_list says; with "zero", what the metric makes of an empty list, 0 for most',
            "counted like other users with an empty list",
            when=(_NOT_POOLED, AnyOf(_unlike_no_relevant("skip"), When("average.no_list", other_than=("skip",)))),
            instead=_REPEATS,
        ),
        Option(
            "skip",
            "nothing: left out of the average",
            "were left out of the average",
            when=(
                _unlike_no_relevant("skip"),
                AnyOf(When("average.no_list", other_than=("skip",)), When("average.over", ("pooled",))),
            ),
            instead='use "no-relevant" or "no-list", whichever means the same here',
        ),
        _not_repeated("zero", "0", "counted with a value of 0", _NOT_POOLED),
        _not_repeated("one", "1", "counted with a value of 1", _NOT_POOLED),
        _not_repeated(
            "nan",
            "not a number",
            "A test user with neither a list nor a relevant item made the average undefined.",
            gives_number=False,
        ),
        when=(When("candidates.relevant", ("all",)),),
        acts_on=("neither",),
        sentence="Test users with neither a list nor a relevant item {value}.",
    ),
    Decision.choice(
        "average.no_negatives",
        "What does a list count that has relevant items and no negative ones, where a metric compares the two?",
        Option(
            "no-relevant",
            "what average.no_relevant says of a list without relevant items",
            "a list without others counted like one without relevant items",
        ),
        _not_repeated("skip", "nothing: left out of the average", "lists without others were left out of the average"),
        _not_repeated("zero", "0", "lists without others counted with a value of 0", _NOT_POOLED),
        Option(
            "half",
            "1/2, as an order at random",
            "lists without others counted with a value of 1/2",
            when=(_NOT_POOLED,),
            instead=_NO_PART,
        ),
        _not_repeated("one", "1", "lists without others counted with a value of 1", _NOT_POOLED),
        _not_repeated(
            "nan",
            "not a number",
            "a list without others made the average undefined",
            gives_number=False,
            used_by=("scikit-learn",),
        ),
        acts_on=("no-negatives",),
        sentence="Where a metric compares relevant items with others, {value}.",
    ),
    Decision.choice(
        "average.nobody",
        "What is a metric of lists when nobody is left to be averaged?",
        Option("nan", "not a number", "was undefined"),
        Option("zero", "0", "had a value of 0"),
        Option(
            "error",
            "the evaluation stops with an error",
            "Every metric had somebody to be averaged: the evaluation would have stopped otherwise.",
            stops_run=True,
        ),
        acts_on=("nobody",),
        sentence="A metric for which nobody could be averaged {value}.",
    ),
)
