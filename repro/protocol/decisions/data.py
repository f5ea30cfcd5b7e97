"""Which interactions enter, before anything is held out."""

from repro.protocol.decision import Contradiction, Decision, Option, When, Wording

# The files of a split are used as they are: no filter acts on them.
_FILTERED = (When("split.strategy", other_than=("files",)),)

DECISIONS = (
    Decision(
        "data.duplicates",
        "What happens to several rows of the same user and item?",
        options=(
            Option("error", "refuse the data set", stops_run=True),
            Option("first", "keep the earliest (by timestamp, then rating; by row where there are none)"),
            Option("last", "keep the latest (by timestamp, then rating; by row where there are none)"),
            Option("mean", "keep one row with the mean rating and the latest timestamp"),
            Option("sum", "keep one row with the summed rating and the latest timestamp"),
        ),
        default="error",
        acts_on=("duplicates",),
        own_search=True,
        wording=Wording(
            says={
                "error": (
                    "Every user had at most one interaction with an item; data with repeated "
                    "interactions would have been refused."
                ),
                "first": "Of several interactions of a user with the same item, we kept the earliest.",
                "last": "Of several interactions of a user with the same item, we kept the latest.",
                "mean": (
                    "We replaced several interactions of a user with the same item by one with "
                    "their mean rating and the latest timestamp."
                ),
                "sum": (
                    "We replaced several interactions of a user with the same item by one with the "
                    "sum of their ratings and the latest timestamp."
                ),
            }
        ),
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
        ),
        default="canonical",
        wording=Wording(
            says={
                "canonical": (
                    "Algorithms saw the interactions sorted by user and item, whatever their order in the source."
                ),
                "source": "Algorithms saw the interactions in the order of the source.",
                "splitter": (
                    "Algorithms saw the training interactions in the order in which the framework's "
                    "own splitter gives them."
                ),
            }
        ),
    ),
    Decision(
        "data.min_rating",
        "Below which rating are rows left out?",
        "number",
        default="none",
        words=("none",),
        when=_FILTERED,
        contradicts=(Contradiction("data.max_rating", "no row is left; swap them", relation="at most"),),
        wording=Wording(
            says={
                "*": "We left out interactions with a rating below {value}.",
            },
            absent=("none", "lower bound on ratings"),
        ),
    ),
    Decision(
        "data.max_rating",
        "Above which rating are rows left out?",
        "number",
        default="none",
        words=("none",),
        when=_FILTERED,
        wording=Wording(
            says={
                "*": "We left out interactions with a rating above {value}.",
            },
            absent=("none", "upper bound on ratings"),
        ),
    ),
    Decision(
        "data.from_time",
        "Before which timestamp are rows left out?",
        "number",
        default="none",
        words=("none",),
        when=_FILTERED,
        contradicts=(Contradiction("data.to_time", "no row is left; swap them", relation="at most"),),
        wording=Wording(
            says={
                "*": "We left out interactions before the timestamp {value}.",
            },
            absent=("none", "first timestamp"),
        ),
    ),
    Decision(
        "data.to_time",
        "After which timestamp are rows left out?",
        "number",
        default="none",
        words=("none",),
        when=_FILTERED,
        wording=Wording(
            says={
                "*": "We left out interactions after the timestamp {value}.",
            },
            absent=("none", "last timestamp"),
        ),
    ),
    Decision(
        "data.sample_users",
        "Which share of the users is kept, drawn at random?",
        "number",
        default=1.0,
        minimum=0,
        maximum=1,
        when=_FILTERED,
        wording=Wording(
            says={
                "*": "We kept a random sample of {value:%} of the users.",
            },
            absent=(1.0, "subsampling of users"),
        ),
    ),
    Decision(
        "data.sample_items",
        "Which share of the items is kept, drawn at random?",
        "number",
        default=1.0,
        minimum=0,
        maximum=1,
        when=_FILTERED,
        wording=Wording(
            says={
                "*": "We kept a random sample of {value:%} of the items.",
            },
            absent=(1.0, "subsampling of items"),
        ),
    ),
    Decision(
        "data.user_core",
        "How many ratings must a user have to be kept (k-core)?",
        "integer",
        default=0,
        minimum=0,
        excluded=(1,),
        when=_FILTERED,
        wording=Wording(
            says={
                "*": "We left out users with fewer than {value:interaction}.",
            },
            absent=(0, "minimum number of interactions for users"),
        ),
    ),
    Decision(
        "data.item_core",
        "How many ratings must an item have to be kept (k-core)?",
        "integer",
        default=0,
        minimum=0,
        excluded=(1,),
        when=_FILTERED,
        wording=Wording(
            says={
                "*": "We left out items with fewer than {value:interaction}.",
            },
            absent=(0, "minimum number of interactions for items"),
        ),
    ),
    Decision(
        "data.core_rounds",
        "How often are the two core filters repeated (users first, then items)?",
        "integer",
        default="until-stable",
        minimum=1,
        words=("until-stable",),
        when=(When("data.user_core", above=0), When("data.item_core", above=0)),
        wording=Wording(
            says={
                "until-stable": "These filters were repeated, users first, until both held (k-core).",
                "*": ("These filters were applied {value:time}, users first, whether or not both held in the end."),
            }
        ),
    ),
    Decision(
        "data.scale",
        "What is the rating scale?",
        options=(
            Option("observed", "from the smallest to the largest rating of the data set, before the split"),
            Option("stated", "as stated in data.scale_min and data.scale_max"),
        ),
        default="observed",
        wording=Wording(
            says={
                "observed": (
                    "The rating scale was taken to reach from the smallest to the largest rating of the data set."
                ),
                "stated": "The rating scale was taken to reach from {data.scale_min} to {data.scale_max}.",
            }
        ),
    ),
    Decision(
        "data.scale_min",
        "The lowest rating possible?",
        "number",
        when=(When("data.scale", ("stated",)),),
        contradicts=(
            Contradiction(
                "data.scale_max", "the scale is empty; the minimum must be the smaller one", relation="below"
            ),
        ),
    ),
    Decision("data.scale_max", "The highest rating possible?", "number", when=(When("data.scale", ("stated",)),)),
    Decision(
        "data.item_features",
        "Where are the features of the items, for metrics that compare items by them?",
        "path",
        default="none",
        words=("none", "dataset"),
        wording=Wording(
            says={
                "dataset": "Items were compared by the features that come with the data set.",
                "*": "Items were compared by the features in the file {value}.",
            },
            absent=("none", "use of item features"),
        ),
    ),
)
