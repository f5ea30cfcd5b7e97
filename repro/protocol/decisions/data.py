"""Which interactions enter, before anything is held out."""

from repro.protocol.decision import AnyOf, Decision, Option, When

DECISIONS = (
    Decision(
        "data.duplicates",
        "What happens to several rows of the same user and item?",
        options=(
            Option("error", "refuse the data set"),
            Option("first", "keep the earliest (by timestamp, then rating; by row where there are none)"),
            Option("last", "keep the latest (by timestamp, then rating; by row where there are none)"),
            Option("mean", "keep one row with the mean rating and the latest timestamp"),
            Option("sum", "keep one row with the summed rating and the latest timestamp"),
        ),
        default="error",
    ),
    Decision(
        "data.order",
        "In which order does a framework see the rows?",
        options=(
            Option("canonical", "sorted by user, then item: the same whatever the order of the source"),
            Option(
                "source",
                "as in the source file, for frameworks whose results depend on it",
            ),
            Option(
                "splitter",
                "as the framework's own splitter gives the rows of each part, shuffled as it has them; as in the "
                "source file with any other split",
                used_by=("surprise", "cornac"),
            ),
        ),
        default="canonical",
    ),
    Decision("data.min_rating", "Below which rating are rows left out?", "number", default="none", words=("none",)),
    Decision("data.max_rating", "Above which rating are rows left out?", "number", default="none", words=("none",)),
    Decision(
        "data.from_time",
        "Before which timestamp are rows left out?",
        "number",
        default="none",
        words=("none",),
    ),
    Decision("data.to_time", "After which timestamp are rows left out?", "number", default="none", words=("none",)),
    Decision(
        "data.sample_users",
        "Which share of the users is kept, drawn at random?",
        "number",
        default=1.0,
        minimum=0,
        maximum=1,
    ),
    Decision(
        "data.sample_items",
        "Which share of the items is kept, drawn at random?",
        "number",
        default=1.0,
        minimum=0,
        maximum=1,
    ),
    Decision(
        "data.user_core",
        "How many ratings must a user have to be kept (k-core)?",
        "integer",
        default=0,
        minimum=0,
    ),
    Decision(
        "data.item_core",
        "How many ratings must an item have to be kept (k-core)?",
        "integer",
        default=0,
        minimum=0,
    ),
    Decision(
        "data.core_rounds",
        "How often are the two core filters repeated (users first, then items)?",
        "integer",
        default="until-stable",
        minimum=1,
        words=("until-stable",),
        when=(AnyOf((When("data.user_core", above=0), When("data.item_core", above=0))),),
    ),
    Decision(
        "data.scale",
        "What is the rating scale?",
        options=(
            Option("observed", "from the smallest to the largest rating of the data set, before the split"),
            Option("stated", "as stated in data.scale_min and data.scale_max"),
        ),
        default="observed",
    ),
    Decision("data.scale_min", "The lowest rating possible?", "number", when=(When("data.scale", ("stated",)),)),
    Decision("data.scale_max", "The highest rating possible?", "number", when=(When("data.scale", ("stated",)),)),
    Decision(
        "data.item_features",
        "Where are the features of the items, for metrics that compare items by them?",
        "path",
        default="none",
        words=("none", "dataset"),
    ),
)
