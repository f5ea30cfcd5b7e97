"""What a score that is not there means for the ranking."""

from repro.protocol.decision import Decision, Option, When, Wording

# Scores that may count as missing.
_WITHOUT_SCORE = ("missing", "non-positive", "infinite", "fallback")

DECISIONS = (
    Decision(
        "missing.rank",
        "Where is a candidate without a score ranked?",
        options=(
            Option("last", "below every scored item; the tie rule orders them among themselves"),
            Option("first", "above every scored item", used_by=("recbole", "cornac", "implicit")),
            Option("drop", "nowhere: it leaves the list", used_by=("lenskit",)),
            Option("constant", "as if its score were missing.constant"),
            Option("user-mean", "as if its score were the user's mean training rating"),
            Option("item-mean", "as if its score were the item's mean training rating"),
            Option("global-mean", "as if its score were the mean training rating", used_by=("surprise",)),
            Option("fail", "the run stops", stops_run=True),
        ),
        default="last",
        acts_on=_WITHOUT_SCORE,
        wording=Wording(
            says={
                "last": "Candidates without a score were ranked below all candidates with one.",
                "first": "Candidates without a score were ranked above all candidates with one.",
                "drop": "Candidates without a score were left out of the list.",
                "constant": ("Candidates without a score were ranked as if their score were {missing.constant}."),
                "user-mean": (
                    "Candidates without a score were ranked as if their score were the user's mean training rating."
                ),
                "item-mean": (
                    "Candidates without a score were ranked as if their score were the item's mean training rating."
                ),
                "global-mean": (
                    "Candidates without a score were ranked as if their score were the mean of all training ratings."
                ),
                "fail": "Every candidate had a score: the run would have stopped at one without.",
            }
        ),
    ),
    Decision(
        "missing.constant",
        "The score of a candidate without one?",
        "number",
        typical=(-1.0, 0.0, 1.0, 3.0),
        when=(When("missing.rank", ("constant",)),),
        acts_on=_WITHOUT_SCORE,
    ),
    Decision(
        "missing.fallback",
        "What is a score that the framework made up because the algorithm had none?",
        options=(
            Option("accept", "a score like any other", used_by=("surprise", "cornac")),
            Option("missing", "a missing score"),
        ),
        default="missing",
        acts_on=("fallback",),
        wording=Wording(
            says={
                "accept": ("Scores that a framework makes up where its algorithm has none counted like any other."),
                "missing": ("Scores that a framework makes up where its algorithm has none counted as missing."),
            }
        ),
    ),
    Decision(
        "missing.zero",
        "Is a score of zero a score?",
        options=(
            Option("scored", "yes"),
            Option("missing", "no: zero means that there is none", used_by=("recpack",)),
            Option("missing-or-below", "no: zero or less means that there is none"),
        ),
        default="scored",
        acts_on=("non-positive",),
        wording=Wording(
            says={
                "scored": "A score of zero was a score like any other.",
                "missing": "A score of zero counted as missing.",
                "missing-or-below": "A score of zero or less counted as missing.",
            }
        ),
    ),
    Decision(
        "missing.infinite",
        "Is an infinite score a score?",
        options=(
            Option("scored", "yes: above (or below) every finite one"),
            Option("missing", "no"),
            Option("fail", "the run stops", stops_run=True),
        ),
        default="scored",
        acts_on=("infinite",),
        wording=Wording(
            says={
                "scored": "Infinite scores were ranked beyond all finite ones.",
                "missing": "Infinite scores counted as missing.",
                "fail": "All scores were finite: the run would have stopped at an infinite one.",
            }
        ),
    ),
)
