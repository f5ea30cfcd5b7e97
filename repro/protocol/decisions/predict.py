"""How predicted ratings are compared with real ones."""

from repro.protocol.decision import Decision, Option, When

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
    ),
    Decision(
        "predict.round",
        "To which step are predictions rounded (halves up)?",
        "number",
        default="none",
        minimum=0.000001,
        words=("none",),
        typical=(0.5, 1.0),
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
        own_search=False,  # only the metrics that name it read it
    ),
)
