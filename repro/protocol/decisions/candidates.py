"""Decisions on the items that may be in a user's list (Bellogín 2012, tables 4.2 and 4.3)."""

from repro.protocol.decision import REQUIRED, AnyOf, Contradiction, Decision, Option, When

OPEN_BASES = ("all-items", "train-items", "test-items")
_OPEN = When("candidates.base", OPEN_BASES)
# The conditions under which a split may have a validation part.
VALIDATED = AnyOf(
    When("split.validation_ratio", above=0),
    When("split.validation_n", above=0),
    When("split.validation_share", above=0),
    When("split.strategy", ("files",)),
)
_SAMPLED = When("candidates.negatives", ("sampled",))

DECISIONS = (
    Decision.choice(
        "candidates.base",
        "From which set do the items of a list come?",
        Option(
            "all-items",
            "all items of the data set (AI)",
            "all items of the data set, {candidates.exclude_train}",
            cite="Bellogín 2012, table 4.2",
        ),
        Option(
            "train-items",
            "the items with a training row",
            "all items with a training interaction, {candidates.exclude_train}",
            used_by=("lenskit", "cornac"),
        ),
        Option(
            "test-items",
            "the items that anyone rated in the test (TI)",
            "all items of the test set, whoever had interacted with them, {candidates.exclude_train}",
            cite="Bellogín 2012, table 4.2",
        ),
        Option(
            "user-test-items",
            "the items the user rated in the test (UT)",
            "For each test user, only the items of the user's own test set were ranked.",
            cite="Said & Bellogín 2014",
        ),
        Option(
            "file",
            "as given in a file: the negatives of each user or of each test pair",
            "The candidates to be ranked were given in the file {candidates.file}.",
            needs="file",
            reads=("relevance",),
            searchable=False,
        ),
        default=REQUIRED,
        neutral="all-items",
        contradicts=(
            Contradiction(
                "candidates.relevant",
                "a user's own test items are ranked in one list with all relevant items (UT); use "
                'candidates.relevant = "all", or another base',
                ("user-test-items",),
                ("one",),
            ),
        ),
        sentence="For each test user, the candidates to be ranked were {value}.",
    ),
    Decision("candidates.file", "The file with the negatives?", "path", when=(When("candidates.base", ("file",)),)),
    Decision.choice(
        "candidates.exclude_train",
        "Are a user's training items kept out of the list?",
        Option("all", "all of them", "except those in the user's training set"),
        Option(
            "relevant",
            "only those that would count as relevant",
            "except those in the user's training set that would count as relevant",
            used_by=("cornac",),
            reads=("relevance",),
        ),
        Option("none", "none", "including those in the user's training set"),
        when=(_OPEN,),
        acts_on=("training",),
    ),
    Decision.choice(
        "candidates.exclude_validation",
        "Are a user's validation items kept out of the list?",
        Option("yes", "yes: they are known by the time of the test", "no candidates either", used_by=("recbole",)),
        Option("no", "no: they are candidates like any other item", "candidates like any other"),
        when=(_OPEN, VALIDATED),
        sentence="Items in the user's validation set were {value}.",
    ),
    Decision.choice(
        "candidates.relevant",
        "How many relevant items are in one list?",
        Option(
            "all",
            "all of the user's relevant test items, one list per user (AR)",
            "There was one list for each user, with all of the user's relevant test items in it.",
        ),
        Option(
            "one",
            "one; every relevant test item has a list of its own (1R)",
            "Every relevant test item was ranked in a list of its own, as the only relevant item of that list (1R).",
            cite="Cremonesi et al. 2010",
            reads=("relevance",),
        ),
    ),
    Decision.choice(
        "candidates.negatives",
        "Which other items are in a list?",
        Option("all", "all candidates that are not relevant (AN)", "all candidates that are not relevant"),
        Option(
            "sampled",
            "a sample of them (NN)",
            "{candidates.sample_size:non-relevant candidate}, drawn {candidates.sample_weight} and "
            "{candidates.replacement}",
            reads=("relevance",),
            searchable=False,
        ),
        when=(_OPEN,),
        sentence="Beside relevant items, a list held {value}.",
    ),
    Decision(
        "candidates.sample_size",
        "How many non-relevant items are drawn for a list?",
        "integer",
        minimum=1,
        typical=(50, 100, 1000),
        when=(_OPEN, _SAMPLED),
    ),
    Decision.choice(
        "candidates.sample_weight",
        "How are they drawn?",
        Option("uniform", "each with the same probability", "uniformly at random"),
        Option(
            "popularity",
            "with probability proportional to the item's training rows",
            "with probability proportional to their number of training interactions",
        ),
        when=(_OPEN, _SAMPLED),
    ),
    Decision.choice(
        "candidates.sample_per",
        "Do the lists of one user share their sample?",
        Option("list", "no: each list has a sample of its own", "Each list had a sample of its own."),
        Option(
            "user",
            "yes: one sample serves all lists of a user",
            "All lists of a user shared one sample.",
            cite="Bellogín 2012, lemma of section 4.3.4",
        ),
        when=(_OPEN, _SAMPLED, When("candidates.relevant", ("one",))),
    ),
    Decision(
        "candidates.replacement",
        "May an item be drawn twice for one list (it is then ranked once)?",
        "flag",
        default=False,
        when=(_OPEN, _SAMPLED),
        texts={
            True: "with replacement, where an item that is drawn twice is ranked once",
            False: "without replacement",
        },
    ),
    Decision.choice(
        "candidates.rated_negatives",
        "May test items that the user rated, but not as relevant, be in the list?",
        Option("include", "yes, as non-relevant items", "could be among them", cite="Bellogín 2012, section 4.3.1"),
        Option("exclude", "no", "were kept out of the list", reads=("relevance",)),
        when=(_OPEN,),
        acts_on=("graded",),
        sentence="Test items that the user had rated, but not as relevant, {value}.",
    ),
    Decision.choice(
        "candidates.strata",
        "Do the items of a list come from one stratum of items?",
        Option("none", "no"),
        Option(
            "popularity",
            "yes: from the popularity percentile of the relevant item; the metric is averaged over percentiles (P1R)",
            "All items of a list came from the same of {candidates.strata_count:popularity percentile} as its "
            "relevant item, by {candidates.strata_by}, and metrics were averaged over percentiles (P1R).",
            cite="Bellogín 2012, section 4.6.1",
        ),
        when=(_OPEN, _SAMPLED, When("candidates.relevant", ("one",))),
        contradicts=(
            Contradiction(
                "average.no_relevant",
                'a user without relevant items belongs to no percentile; use average.no_relevant = "skip"',
                ("popularity",),
                ("zero", "one", "nan"),
            ),
        ),
        absent="stratification of candidates by popularity",
    ),
    Decision(
        "candidates.strata_count",
        "How many percentiles?",
        "integer",
        default=10,
        minimum=2,
        when=(When("candidates.strata", ("popularity",)),),
    ),
    Decision.choice(
        "candidates.strata_by",
        "Popular by which rows?",
        Option(
            "all", "all rows of the data set, training and test", "the number of interactions in the whole data set"
        ),
        Option("train", "the training rows", "the number of training interactions"),
        when=(When("candidates.strata", ("popularity",)),),
    ),
)
