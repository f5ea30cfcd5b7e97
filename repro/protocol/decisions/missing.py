"""What a score that is not there means for the ranking."""

from repro.protocol.decision import Decision, Option, When

# Scores that may count as missing.
_WITHOUT_SCORE = ("missing", "non-positive", "infinite", "fallback")

DECISIONS = (
    Decision(
        "missing.rank",
        "Where is a candidate without a score ranked?",
        options=(
            Option(
                "last",
                "below every scored item; the tie rule orders them among themselves",
                "were ranked below all candidates with one",
            ),
            Option(
                "first",
                "above every scored item",
                "were ranked above all candidates with one",
                used_by=("recbole", "cornac", "implicit"),
            ),
            Option("drop", "nowhere: it leaves the list", "were left out of the list", used_by=("lenskit",)),
            Option(
                "constant",
                "as if its score were missing.constant",
                "were ranked as if their score were {missing.constant}",
            ),
            Option(
                "user-mean",
                "as if its score were the user's mean training rating",
                "were ranked as if their score were the user's mean training rating",
            ),
            Option(
                "item-mean",
                "as if its score were the item's mean training rating",
                "were ranked as if their score were the item's mean training rating",
            ),
            Option(
                "global-mean",
                "as if its score were the mean training rating",
                "were ranked as if their score were the mean of all training ratings",
                used_by=("surprise",),
            ),
            Option(
                "fail",
                "the run stops",
                "Every candidate had a score: the run would have stopped at one without.",
                stops_run=True,
            ),
        ),
        default="last",
        acts_on=_WITHOUT_SCORE,
        sentence="Candidates without a score {value}.",
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
            Option("accept", "a score like any other", "like any other", used_by=("surprise", "cornac")),
            Option("missing", "a missing score", "as missing"),
        ),
        default="missing",
        acts_on=("fallback",),
        sentence="Scores that a framework makes up where its algorithm has none counted {value}.",
    ),
    Decision(
        "missing.zero",
        "Is a score of zero a score?",
        options=(
            Option("scored", "yes", "was a score like any other"),
            Option("missing", "no: zero means that there is none", "counted as missing", used_by=("recpack",)),
            Option("missing-or-below", "no: zero or less means that there is none", "or less counted as missing"),
        ),
        default="scored",
        acts_on=("non-positive",),
        sentence="A score of zero {value}.",
    ),
    Decision(
        "missing.infinite",
        "Is an infinite score a score?",
        options=(
            Option("scored", "yes: above (or below) every finite one", "were ranked beyond all finite ones"),
            Option("missing", "no", "counted as missing"),
            Option(
                "fail",
                "the run stops",
                "All scores were finite: the run would have stopped at an infinite one.",
                stops_run=True,
            ),
        ),
        default="scored",
        acts_on=("infinite",),
        sentence="Infinite scores {value}.",
    ),
)
