"""Decisions on how missing scores are ranked."""

from repro.protocol.decision import Decision, Option, When

# Scores that may count as missing.
_WITHOUT_SCORE = ("missing", "non-positive", "infinite", "fallback")


def mean_options(meaning: str, text: str, *, global_used_by: tuple[str, ...] = ()) -> tuple[Option, ...]:
    """Options that use a mean of training ratings in place of what is missing, after ``meaning`` and ``text``."""
    return (
        *(
            Option(
                f"{noun}-mean",
                f"{meaning} the {noun}'s mean training rating",
                f"{text} the {noun}'s mean training rating",
            )
            for noun in ("user", "item")
        ),
        Option(
            "global-mean",
            f"{meaning} the mean training rating",
            f"{text} the mean of all training ratings",
            used_by=global_used_by,
        ),
    )


def fallback(id: str, noun: str, default: str) -> Decision:
    """Whether a score or prediction that a framework made up counts."""
    return Decision.choice(
        id,
        f"What is a {noun} that the framework made up because the algorithm had none?",
        Option("accept", f"a {noun} like any other", "like any other", used_by=("surprise", "cornac")),
        Option("missing", f"a missing {noun}", "as missing"),
        default=default,
        acts_on=("fallback",),
        sentence=f"{noun.capitalize()}s that a framework makes up where its algorithm has none counted {{value}}.",
    )


DECISIONS = (
    Decision.choice(
        "missing.rank",
        "Where is a candidate without a score ranked?",
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
            "constant", "as if its score were missing.constant", "were ranked as if their score were {missing.constant}"
        ),
        *mean_options("as if its score were", "were ranked as if their score were", global_used_by=("surprise",)),
        Option.fail("Every candidate had a score: the run would have stopped at one without."),
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
    fallback("missing.fallback", "score", default="missing"),
    Decision.choice(
        "missing.zero",
        "Is a score of zero a score?",
        Option("scored", "yes", "was a score like any other"),
        Option("missing", "no: zero means that there is none", "counted as missing", used_by=("recpack",)),
        Option("missing-or-below", "no: zero or less means that there is none", "or less counted as missing"),
        acts_on=("non-positive",),
        sentence="A score of zero {value}.",
    ),
    Decision.choice(
        "missing.infinite",
        "Is an infinite score a score?",
        Option("scored", "yes: above (or below) every finite one", "were ranked beyond all finite ones"),
        Option("missing", "no", "counted as missing"),
        Option.fail("All scores were finite: the run would have stopped at an infinite one."),
        acts_on=("infinite",),
        sentence="Infinite scores {value}.",
    ),
)
