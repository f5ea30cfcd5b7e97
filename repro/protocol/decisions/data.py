"""Decisions on the interactions that enter, before anything is held out."""

from repro.protocol.decision import Contradiction, Decision, Option, When

# The files of a split are used as they are: no filter acts on them.
_FILTERED = (When("split.strategy", other_than=("files",)),)

_BINARISED = When("data.binarise", other_than=("none",))


def _bound(name: str, question: str, rows: str, absent: str, *, upper: str = "") -> Decision:
    """A bound on ratings or times: rows beyond it are left out; ``upper`` is the other end of the interval."""
    return Decision(
        f"data.{name}",
        f"{question} are rows left out?",
        "number",
        default="none",
        words=("none",),
        when=_FILTERED,
        contradicts=(Contradiction(upper, "no row is left; swap them", relation="at most"),) if upper else (),
        sentence=f"We left out interactions {rows} {{value}}.",
        absent=absent,
    )


def _sample(nouns: str) -> Decision:
    return Decision.share(
        f"data.sample_{nouns}",
        f"Which share of the {nouns} is kept, drawn at random?",
        default=1.0,
        when=_FILTERED,
        sentence=f"We kept a random sample of {{value:%}} of the {nouns}.",
        absent=f"subsampling of {nouns}",
    )


def _core(noun: str, nouns: str) -> Decision:
    return Decision(
        f"data.{noun.split()[1]}_core",
        f"How many ratings must {noun} have to be kept (k-core)?",
        "integer",
        default=0,
        minimum=0,
        excluded=(1,),
        when=_FILTERED,
        sentence=f"We left out {nouns} with fewer than {{value:interaction}}.",
        absent=f"minimum number of interactions for {nouns}",
    )


DECISIONS = (
    Decision.choice(
        "data.duplicates",
        "What happens to several rows of the same user and item?",
        Option(
            "error",
            "refuse the data set",
            "Every user had at most one interaction with an item; data with repeated interactions would have been "
            "refused.",
            stops_run=True,
        ),
        Option(
            "first",
            "keep the earliest (by timestamp, then rating; by row where there are none)",
            "Of several interactions of a user with the same item, we kept the earliest.",
        ),
        Option(
            "last",
            "keep the latest (by timestamp, then rating; by row where there are none)",
            "Of several interactions of a user with the same item, we kept the latest.",
        ),
        Option(
            "mean",
            "keep one row with the mean rating and the latest timestamp",
            "their mean rating and the latest timestamp",
        ),
        Option(
            "sum",
            "keep one row with the summed rating and the latest timestamp",
            "the sum of their ratings and the latest timestamp",
        ),
        acts_on=("duplicates",),
        own_search=True,
        sentence="We replaced several interactions of a user with the same item by one with {value}.",
    ),
    Decision.choice(
        "data.order",
        "In which order does a framework see the rows?",
        Option(
            "canonical",
            "sorted by user, then item: the same whatever the order of the source",
            "sorted by user and item, whatever their order in the source",
        ),
        Option(
            "source", "as in the source file, for frameworks whose results depend on it", "in the order of the source"
        ),
        sentence="Algorithms saw the interactions {value}.",
    ),
    _bound(
        "min_rating", "Below which rating", "with a rating below", "lower bound on ratings", upper="data.max_rating"
    ),
    _bound("max_rating", "Above which rating", "with a rating above", "upper bound on ratings"),
    Decision(
        "data.binarise",
        "From which rating on is an interaction positive, with 1 in place of its rating?",
        "number",
        default="none",
        words=("none",),
        typical=(1.0, 3.0, 3.5, 4.0, 5.0),
        sentence=(
            "We made ratings binary {data.binarise_rows}: a rating of at least {value} became 1, and interactions with "
            "a lower one {data.binarise_below}."
        ),
        absent="binarisation of ratings",
    ),
    Decision.choice(
        "data.binarise_below",
        "What happens to interactions with a lower rating?",
        Option("drop", "they are left out, and the others are implicit feedback", "were left out"),
        Option("zero", "they stay, with the rating 0", "got the rating 0"),
        when=(_BINARISED,),
    ),
    Decision.choice(
        "data.binarise_rows",
        "Which ratings are made binary?",
        Option("all", "all of them, before the split", "before the split"),
        Option(
            "training",
            "those that algorithms are fitted on, after the split; held-out rows keep their ratings",
            "in the training set alone, after the split",
        ),
        when=(_BINARISED,),
    ),
    _bound("from_time", "Before which timestamp", "before the timestamp", "first timestamp", upper="data.to_time"),
    _bound("to_time", "After which timestamp", "after the timestamp", "last timestamp"),
    _sample("users"),
    _sample("items"),
    _core("a user", "users"),
    _core("an item", "items"),
    Decision(
        "data.core_rounds",
        "How often are the two core filters repeated (users first, then items)?",
        "integer",
        default="until-stable",
        minimum=1,
        words=("until-stable",),
        when=(When("data.user_core", above=0), When("data.item_core", above=0)),
        sentence="These filters were applied {value:time}, users first, whether or not both held in the end.",
        texts={"until-stable": "These filters were repeated, users first, until both held (k-core)."},
    ),
    Decision.choice(
        "data.scale",
        "What is the rating scale?",
        Option(
            "observed",
            "from the smallest to the largest rating of the data set, before the split",
            "the smallest to the largest rating of the data set",
        ),
        Option("stated", "as stated in data.scale_min and data.scale_max", "{data.scale_min} to {data.scale_max}"),
        sentence="The rating scale was taken to reach from {value}.",
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
        sentence="Items were compared by the features in the file {value}.",
        texts={"dataset": "Items were compared by the features that come with the data set."},
        absent="use of item features",
    ),
)
