"""What is held out: strategies and what they leave open."""

from repro.protocol.decision import AnyOf, Contradiction, Decision, Option, When

PER_USER_N = ("given-n", "all-but-n")
ORDERED = ("ratio", "user-ratio", "given-n", "all-but-n", "kfold-users")
# Strategies that set rows apart for validation in the same stroke as for the test.
THREE_WAY = ("ratio", "user-ratio", "all-but-n", "files")
# Strategies that leave each test user a training row.
USERS_SEEN = ("given-n", "all-but-n", "kfold-users", "random-n")


def _strategy(*names: str) -> tuple[When, ...]:
    return (When("split.strategy", names),)


DECISIONS = (
    Decision(
        "split.strategy",
        "How are interactions held out?",
        options=(
            Option("ratio", "a share of all rows, whoever they belong to"),
            Option("user-ratio", "the same share of every user's rows"),
            Option("kfold", "all rows in k parts, each held out once", used_by=("surprise",)),
            Option("kfold-per-user", "every user's rows in k parts, each held out once", used_by=("rival",)),
            Option(
                "kfold-users",
                "the users in k parts; of a test user's rows some are held out",
                used_by=("lenskit",),
            ),
            Option("given-n", "n rows of every user are known, the rest is held out", cite="Breese et al. 1998"),
            Option("all-but-n", "n rows of every user are held out", cite="Breese et al. 1998"),
            Option(
                "random-n",
                "of sampled users, a number of rows drawn for each user is held out",
                cite="Gunawardana & Shani 2009, section 4.2",
            ),
            Option("time-point", "everything after one point in time"),
            Option(
                "time-users",
                "of sampled users, everything after a sampled moment",
                cite="Gunawardana & Shani 2009, section 4.2",
            ),
            Option(
                "uniform-items",
                "the same number of rows of every target item (UAR, U1R)",
                cite="Bellogín 2012, section 4.6.2",
            ),
            Option("files", "as given in files"),
            Option(
                "leave-one-last",
                "each user's latest row",
                means={"split.strategy": "all-but-n", "split.n": 1, "split.order": "time"},
            ),
            Option(
                "time-ratio",
                "the latest share of all rows",
                means={"split.strategy": "ratio", "split.order": "time"},
            ),
            Option(
                "user-time-ratio",
                "the latest share of every user's rows",
                means={"split.strategy": "user-ratio", "split.order": "time"},
            ),
        ),
    ),
    Decision(
        "split.order",
        "Which rows are held out?",
        options=(
            Option("random", "a random choice"),
            Option("time", "the latest ones"),
        ),
        default="random",
        when=_strategy(*ORDERED),
    ),
    Decision(
        "split.test_ratio",
        "Which share is held out for testing?",
        "number",
        default=0.2,
        minimum=0,
        maximum=1,
        when=_strategy("ratio", "user-ratio", "uniform-items"),
        contradicts=(
            Contradiction(
                "split.validation_ratio", "nothing is left for training; lower one of them", relation="sum below 1"
            ),
        ),
    ),
    Decision(
        "split.holdout",
        "What is held out of a test user's rows?",
        options=(
            Option("ratio", "a share of them"),
            Option("all-but-n", "n of them"),
            Option("given-n", "all but n of them"),
        ),
        default="ratio",
        when=_strategy("kfold-users"),
    ),
    Decision(
        "split.holdout_ratio",
        "Which share of a test user's rows is held out?",
        "number",
        default=0.2,
        minimum=0,
        maximum=1,
        when=(*_strategy("kfold-users"), When("split.holdout", ("ratio",))),
    ),
    Decision(
        "split.holdout_n",
        "The n of split.holdout?",
        "integer",
        minimum=1,
        when=(*_strategy("kfold-users"), When("split.holdout", ("all-but-n", "given-n"))),
    ),
    Decision("split.n", "The n of given-n or all-but-n?", "integer", minimum=1, when=_strategy(*PER_USER_N)),
    Decision(
        "split.folds",
        "How many parts?",
        "integer",
        default=5,
        minimum=2,
        when=_strategy("kfold", "kfold-per-user", "kfold-users"),
    ),
    Decision(
        "split.repeats",
        "How often is the split drawn anew?",
        "integer",
        default=1,
        minimum=1,
        when=(
            AnyOf((When("split.order", ("random",)), *_strategy("random-n", "uniform-items"))),
            *_strategy("ratio", "user-ratio", "given-n", "all-but-n", "random-n", "uniform-items"),
        ),
    ),
    Decision(
        "split.rounding",
        "How is a share of a user's rows made a whole number?",
        options=(
            Option("round", "to the nearest, halves up"),
            Option("floor", "down"),
            Option("ceil", "up"),
        ),
        default="round",
        when=(
            AnyOf(
                (
                    *_strategy("user-ratio"),
                    When("split.holdout", ("ratio",)),
                    When("split.validation_of", ("users",)),
                )
            ),
        ),
    ),
    Decision(
        "split.short_users",
        "What happens to users with too few rows to hold out n and keep one?",
        options=(
            Option("train", "they stay in training whole, and are not tested"),
            Option("drop", "they are left out altogether"),
        ),
        default="train",
        when=_strategy(*PER_USER_N, "kfold-users"),
    ),
    Decision("split.time", "After which timestamp are rows held out?", "number", when=_strategy("time-point")),
    Decision(
        "split.equal_times",
        "In which order do rows with equal timestamps come?",
        options=(
            Option("item-asc", "by item id, then user id, ascending"),
            Option("source", "as in the source file"),
            Option("random", "at random"),
        ),
        default="item-asc",
        when=(AnyOf((When("split.order", ("time",)), When("split.validation_order", ("time",)))),),
    ),
    Decision(
        "split.test_users",
        "How many users are sampled for testing?",
        "integer",
        default="all",
        minimum=1,
        words=("all",),
        when=_strategy("random-n", "time-users"),
    ),
    Decision(
        "split.clock",
        "Which moment separates the past of a test user from the future?",
        options=(
            Option("shared", "one sampled moment for all test users"),
            Option(
                "own",
                "a sampled moment for each user; the other users' rows are not cut",
                when=(When("split.test_users", other_than=(1,)),),
                instead='use "shared", which is the same for one test user',
            ),
            Option(
                "each",
                "a sampled moment for each user, and a training set of its own: only what all "
                "users did before that moment (one fold per test user)",
            ),
        ),
        default="shared",
        when=_strategy("time-users"),
        cite="Gunawardana & Shani 2009, section 4.2",
    ),
    Decision(
        "split.train_floor",
        "Which share of a target item's rows must stay in training (epsilon)?",
        "number",
        default=0.2,
        minimum=0,
        maximum=1,
        when=_strategy("uniform-items"),
        cite="Bellogín 2012, section 4.6.2",
    ),
    Decision(
        "split.validation_ratio",
        "Which share (of all rows, or of every user's rows) is set apart for validation?",
        "number",
        default=0.0,
        minimum=0,
        maximum=1,
        when=_strategy("ratio", "user-ratio"),
    ),
    Decision(
        "split.validation_n",
        "How many rows of every user are set apart for validation?",
        "integer",
        default=0,
        minimum=0,
        when=_strategy("all-but-n"),
    ),
    Decision(
        "split.validation_share",
        "Which share of the training rows of each fold is set apart for validation?",
        "number",
        default=0.0,
        minimum=0,
        maximum=1,
        when=(When("split.strategy", other_than=THREE_WAY),),
    ),
    Decision(
        "split.validation_of",
        "Of what is that share taken?",
        options=(
            Option("rows", "of all training rows of the fold, whoever they belong to"),
            Option("users", "of every user's training rows"),
        ),
        default="rows",
        when=(When("split.validation_share", above=0),),
    ),
    Decision(
        "split.validation_order",
        "Which training rows are set apart for validation?",
        options=(
            Option("random", "a random choice, another one in each fold"),
            Option("time", "the latest ones"),
        ),
        default="random",
        when=(When("split.validation_share", above=0),),
    ),
    Decision("split.train_file", "The training rows?", "path", when=_strategy("files")),
    Decision("split.test_file", "The test rows?", "path", when=_strategy("files")),
    Decision("split.validation_file", "The validation rows?", "path", default="none", when=_strategy("files")),
    Decision(
        "split.head",
        "Which share of the most popular items is taken out of test and candidates?",
        "number",
        default=0.0,
        minimum=0,
        maximum=1,
        cite="Cremonesi et al. 2010",
    ),
    Decision(
        "split.unseen_users",
        "What happens to test rows of users without any training row?",
        options=(Option("keep", "they are tested"), Option("drop", "they are left out of the test")),
        default="keep",
        when=(
            AnyOf((When("split.strategy", other_than=USERS_SEEN), When("split.validation_share", above=0))),
            # Of a user's rows, shares that are rounded down never take all.
            AnyOf(
                (
                    When("split.strategy", other_than=(*USERS_SEEN, "user-ratio")),
                    When("split.validation_of", ("rows",)),
                    When("split.rounding", other_than=("floor",)),
                )
            ),
        ),
    ),
    Decision(
        "split.unseen_items",
        "What happens to test rows of items without any training row?",
        options=(Option("keep", "they are tested"), Option("drop", "they are left out of the test")),
        default="keep",
        acts_on=("unknown-items",),
        own_search=True,
        when=(
            AnyOf(
                (
                    When("split.strategy", other_than=("uniform-items",)),
                    When("split.train_floor", (0.0,)),
                    When("split.validation_share", above=0),
                )
            ),
        ),
    ),
)
