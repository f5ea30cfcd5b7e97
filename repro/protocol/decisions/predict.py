"""Decisions on how predicted ratings are compared with real ones."""

from repro.protocol.decision import Decision, Option, When
from repro.protocol.decisions.missing import fallback, mean_options

DECISIONS = (
    Decision.choice(
        "predict.missing",
        "What happens to a test pair without a prediction?",
        Option("skip", "it is left out", "left out"),
        Option("constant", "the prediction is predict.constant", "given the prediction {predict.constant}"),
        *mean_options("the prediction is", "given"),
        Option(
            "nan",
            "no error that it is in is a number",
            "A test pair without a predicted rating made the errors that it is part of undefined.",
            used_by=("surprise", "cornac"),
            gives_number=False,
        ),
        Option.fail("Every test pair had a predicted rating: the run would have stopped at one without."),
        acts_on=("missing", "fallback"),
        sentence="Test pairs without a predicted rating were {value}.",
    ),
    Decision(
        "predict.constant",
        "The prediction for a pair without one?",
        "number",
        typical=(0.0, 1.0, 3.0),
        when=(When("predict.missing", ("constant",)),),
    ),
    fallback("predict.fallback", "prediction", default="accept"),
    Decision.choice(
        "predict.clip",
        "Are predictions clipped?",
        Option("none", "no"),
        Option("scale", "to the rating scale", "to the rating scale", used_by=("surprise",)),
        Option(
            "train", "to the range of the training ratings", "to the range of the training ratings", used_by=("cornac",)
        ),
        sentence="Predictions were clipped {value}.",
        absent="clipping of predictions",
    ),
    Decision(
        "predict.round",
        "To which step are predictions rounded (halves up)?",
        "number",
        default="none",
        minimum=0.000001,
        words=("none",),
        typical=(0.5, 1.0),
        sentence="Predictions were rounded to steps of {value}, halves up.",
        absent="rounding of predictions",
    ),
    Decision.choice(
        "predict.average",
        "Over what is the error averaged?",
        Option("ratings", "all test pairs", "over all test pairs", used_by=("surprise", "recbole")),
        Option(
            "users",
            "each user's error, then the users",
            "for each user first, then over users",
            used_by=("lenskit", "cornac"),
        ),
        Option("items", "each item's error, then the items", "for each item first, then over items"),
        own_search=False,
        sentence="Errors were averaged {value}.",
    ),
)
