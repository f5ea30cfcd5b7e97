"""How predicted ratings are compared with real ones."""

from repro.protocol.decision import Decision, Option, When

DECISIONS = (
    Decision(
        "predict.missing",
        "What happens to a test pair without a prediction?",
        options=(
            Option("skip", "it is left out", "left out"),
            Option("constant", "the prediction is predict.constant", "given the prediction {predict.constant}"),
            Option(
                "user-mean",
                "the prediction is the user's mean training rating",
                "given the user's mean training rating",
            ),
            Option(
                "item-mean",
                "the prediction is the item's mean training rating",
                "given the item's mean training rating",
            ),
            Option(
                "global-mean", "the prediction is the mean training rating", "given the mean of all training ratings"
            ),
            Option(
                "nan",
                "no error that it is in is a number",
                "A test pair without a predicted rating made the errors that it is part of undefined.",
                used_by=("surprise", "cornac"),
                gives_number=False,
            ),
            Option(
                "fail",
                "the run stops",
                "Every test pair had a predicted rating: the run would have stopped at one without.",
                stops_run=True,
            ),
        ),
        default="skip",
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
    Decision(
        "predict.fallback",
        "What is a prediction that the framework made up because the algorithm had none?",
        options=(
            Option("accept", "a prediction like any other", "like any other", used_by=("surprise", "cornac")),
            Option("missing", "a missing prediction", "as missing"),
        ),
        default="accept",
        acts_on=("fallback",),
        sentence="Predictions that a framework makes up where its algorithm has none counted {value}.",
    ),
    Decision(
        "predict.clip",
        "Are predictions clipped?",
        options=(
            Option("none", "no"),
            Option("scale", "to the rating scale", "to the rating scale", used_by=("surprise",)),
            Option(
                "train",
                "to the range of the training ratings",
                "to the range of the training ratings",
                used_by=("cornac",),
            ),
        ),
        default="none",
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
    Decision(
        "predict.average",
        "Over what is the error averaged?",
        options=(
            Option("ratings", "all test pairs", "over all test pairs", used_by=("surprise", "recbole")),
            Option(
                "users",
                "each user's error, then the users",
                "for each user first, then over users",
                used_by=("lenskit", "cornac"),
            ),
            Option("items", "each item's error, then the items", "for each item first, then over items"),
        ),
        default="ratings",
        own_search=False,  # only the metrics that name it read it
        sentence="Errors were averaged {value}.",
    ),
)
