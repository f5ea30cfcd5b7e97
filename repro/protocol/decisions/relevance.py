"""Decisions on the held-out items that count as relevant, and on their grades."""

from repro.protocol.decision import REQUIRED, Decision, Option, When

DECISIONS = (
    Decision.choice(
        "relevance.rule",
        "When is a held-out item relevant for its user?",
        Option("threshold", "its rating reaches relevance.threshold", "{relevance.inclusive} {relevance.threshold}"),
        Option(
            "any",
            "always: every held-out interaction is a positive one (implicit feedback)",
            "Every held-out item counted as relevant for its user, as usual with implicit feedback.",
        ),
        Option(
            "user-mean",
            "its rating reaches the user's mean rating in training",
            "{relevance.inclusive} the user's mean rating in training",
        ),
        default=REQUIRED,
        neutral="threshold",
        acts_on=("graded",),
        sentence="A held-out item counted as relevant for its user if its rating was {value}.",
    ),
    Decision(
        "relevance.threshold",
        "Which rating makes an item relevant?",
        "number",
        typical=tuple(step / 2 for step in range(11)),
        when=(When("relevance.rule", ("threshold",)),),
        neutral=1.0,
        acts_on=("graded",),
    ),
    Decision(
        "relevance.inclusive",
        "Is a rating equal to the threshold relevant?",
        "flag",
        default=True,
        when=(When("relevance.rule", ("threshold", "user-mean")),),
        acts_on=("graded",),
        texts={True: "at least", False: "above"},
    ),
    Decision.choice(
        "relevance.grades",
        "Which held-out items carry their rating as a grade, where a metric uses grades?",
        Option(
            "relevant",
            "only relevant items; the others have grade 0",
            "relevant item was its rating, and that of any other item was 0",
        ),
        Option(
            "judged",
            "every held-out item, relevant or not",
            "held-out item was its rating, whether or not it was relevant",
            cite="Valcarce et al. 2018, eq. 4",
        ),
        acts_on=("graded",),
        sentence="Where a metric uses grades, the grade of a {value}.",
    ),
)
