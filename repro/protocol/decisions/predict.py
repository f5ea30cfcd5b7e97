"""How predicted ratings are compared with real ones."""

from repro.protocol.decision import Decision, Option, When, Wording

DECISIONS = (
    Decision(
        "predict.missing",
        "What happens to a test pair without a prediction?",
        options=(
            Option("skip", "it is left out"),
            Option("constant", "the prediction is predict.constant"),
            Option("user-mean", "the prediction is the user's mean training rating"),
            Option("item-mean", "the prediction is the item's mean training rating"),
            Option("global-mean", "the prediction is the mean training rating"),
            Option("nan", "no error that it is in is a number", used_by=("surprise", "cornac"), gives_number=False),
            Option("fail", "the run stops", stops_run=True),
        ),
        default="skip",
        acts_on=("missing", "fallback"),
        wording=Wording(
            says={
                "skip": "Test pairs without a predicted rating were left out.",
                "constant": ("Test pairs without a predicted rating were given the prediction {predict.constant}."),
                "user-mean": ("Test pairs without a predicted rating were given the user's mean training rating."),
                "item-mean": ("Test pairs without a predicted rating were given the item's mean training rating."),
                "global-mean": ("Test pairs without a predicted rating were given the mean of all training ratings."),
                "nan": ("A test pair without a predicted rating made the errors that it is part of undefined."),
                "fail": ("Every test pair had a predicted rating: the run would have stopped at one without."),
            }
        ),
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
            Option("accept", "a prediction like any other", used_by=("surprise", "cornac")),
            Option("missing", "a missing prediction"),
        ),
        default="accept",
        acts_on=("fallback",),
        wording=Wording(
            says={
                "accept": (
                    "Predictions that a framework makes up where its algorithm has none counted like any other."
                ),
                "missing": ("Predictions that a framework makes up where its algorithm has none counted as missing."),
            }
        ),
    ),
    Decision(
        "predict.clip",
        "Are predictions clipped?",
        options=(
            Option("none", "no"),
            Option("scale", "to the rating scale", used_by=("surprise",)),
            Option("train", "to the range of the training ratings", used_by=("cornac",)),
        ),
        default="none",
        wording=Wording(
            says={
                "scale": "Predictions were clipped to the rating scale.",
                "train": "Predictions were clipped to the range of the training ratings.",
            },
            absent=("none", "clipping of predictions"),
        ),
    ),
    Decision(
        "predict.round",
        "To which step are predictions rounded (halves up)?",
        "number",
        default="none",
        minimum=0.000001,
        words=("none",),
        typical=(0.5, 1.0),
        wording=Wording(
            says={
                "*": "Predictions were rounded to steps of {value}, halves up.",
            },
            absent=("none", "rounding of predictions"),
        ),
    ),
    Decision(
        "predict.average",
        "Over what is the error averaged?",
        options=(
            Option("ratings", "all test pairs", used_by=("surprise", "recbole")),
            Option("users", "each user's error, then the users", used_by=("lenskit", "cornac")),
            Option("items", "each item's error, then the items"),
        ),
        default="ratings",
        # Only the metrics that name it read it.
        own_search=False,
        wording=Wording(
            says={
                "ratings": "Errors were averaged over all test pairs.",
                "users": "Errors were averaged for each user first, then over users.",
                "items": "Errors were averaged for each item first, then over items.",
            }
        ),
    ),
)
