"""Which items may be in a user's list (Bellogín 2012, tables 4.2 and 4.3)."""

from repro.protocol.decision import AnyOf, Contradiction, Decision, Option, When, Wording

OPEN_BASES = ("all-items", "train-items", "test-items")
_OPEN = When("candidates.base", OPEN_BASES)
_SAMPLED = When("candidates.negatives", ("sampled",))

DECISIONS = (
    Decision(
        "candidates.base",
        "From which set do the items of a list come?",
        options=(
            Option("all-items", "all items of the data set (AI)", cite="Bellogín 2012, table 4.2"),
            Option("train-items", "the items with a training row", used_by=("lenskit", "cornac")),
            Option("test-items", "the items that anyone rated in the test (TI)", cite="Bellogín 2012, table 4.2"),
            Option("user-test-items", "the items the user rated in the test (UT)", cite="Said & Bellogín 2014"),
            Option(
                "file",
                "as given in a file: the negatives of each user or of each test pair",
                needs="file",
                reads=("relevance",),
                searchable=False,
            ),
        ),
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
        wording=Wording(
            says={
                "all-items": (
                    "For each test user, the candidates to be ranked were all items of the data "
                    "set, {candidates.exclude_train}."
                ),
                "train-items": (
                    "For each test user, the candidates to be ranked were all items with a training "
                    "interaction, {candidates.exclude_train}."
                ),
                "test-items": (
                    "For each test user, the candidates to be ranked were all items of the test "
                    "set, whoever had interacted with them, {candidates.exclude_train}."
                ),
                "user-test-items": "For each test user, only the items of the user's own test set were ranked.",
                "file": "The candidates to be ranked were given in the file {candidates.file}.",
            }
        ),
    ),
    Decision("candidates.file", "The file with the negatives?", "path", when=(When("candidates.base", ("file",)),)),
    Decision(
        "candidates.exclude_train",
        "Are a user's training items kept out of the list?",
        options=(
            Option("all", "all of them"),
            Option("relevant", "only those that would count as relevant", used_by=("cornac",), reads=("relevance",)),
            Option("none", "none"),
        ),
        default="all",
        when=(_OPEN,),
        acts_on=("training",),
        wording=Wording(
            phrases={
                "all": "except those in the user's training set",
                "relevant": "except those in the user's training set that would count as relevant",
                "none": "including those in the user's training set",
            }
        ),
    ),
    Decision(
        "candidates.exclude_validation",
        "Are a user's validation items kept out of the list?",
        options=(
            Option("yes", "yes: they are known by the time of the test", used_by=("recbole",)),
            Option("no", "no: they are candidates like any other item"),
        ),
        default="yes",
        when=(
            _OPEN,
            AnyOf(
                (
                    When("split.validation_ratio", above=0),
                    When("split.validation_n", above=0),
                    When("split.validation_share", above=0),
                    When("split.strategy", ("files",)),
                )
            ),
        ),
        wording=Wording(
            says={
                "yes": "Items in the user's validation set were no candidates either.",
                "no": "Items in the user's validation set were candidates like any other.",
            }
        ),
    ),
    Decision(
        "candidates.relevant",
        "How many relevant items are in one list?",
        options=(
            Option("all", "all of the user's relevant test items, one list per user (AR)"),
            Option(
                "one",
                "one; every relevant test item has a list of its own (1R)",
                cite="Cremonesi et al. 2010",
                reads=("relevance",),
            ),
        ),
        default="all",
        wording=Wording(
            says={
                "all": ("There was one list for each user, with all of the user's relevant test items in it."),
                "one": (
                    "Every relevant test item was ranked in a list of its own, as the only relevant "
                    "item of that list (1R)."
                ),
            }
        ),
    ),
    Decision(
        "candidates.negatives",
        "Which other items are in a list?",
        options=(
            Option("all", "all candidates that are not relevant (AN)"),
            Option("sampled", "a sample of them (NN)", reads=("relevance",), searchable=False),
        ),
        default="all",
        when=(_OPEN,),
        wording=Wording(
            says={
                "all": "Beside relevant items, a list held all candidates that are not relevant.",
                "sampled": (
                    "Beside relevant items, a list held {candidates.sample_size:non-relevant "
                    "candidate}, drawn {candidates.sample_weight} and {candidates.replacement}."
                ),
            }
        ),
    ),
    Decision(
        "candidates.sample_size",
        "How many non-relevant items are drawn for a list?",
        "integer",
        minimum=1,
        typical=(50, 100, 1000),
        when=(_OPEN, _SAMPLED),
    ),
    Decision(
        "candidates.sample_weight",
        "How are they drawn?",
        options=(
            Option("uniform", "each with the same probability"),
            Option("popularity", "with probability proportional to the item's training rows"),
        ),
        default="uniform",
        when=(_OPEN, _SAMPLED),
        wording=Wording(
            phrases={
                "uniform": "uniformly at random",
                "popularity": "with probability proportional to their number of training interactions",
            }
        ),
    ),
    Decision(
        "candidates.sample_per",
        "Do the lists of one user share their sample?",
        options=(
            Option("list", "no: each list has a sample of its own"),
            Option(
                "user",
                "yes: one sample serves all lists of a user",
                cite="Bellogín 2012, lemma of section 4.3.4",
            ),
        ),
        default="list",
        when=(_OPEN, _SAMPLED, When("candidates.relevant", ("one",))),
        wording=Wording(
            says={
                "list": "Each list had a sample of its own.",
                "user": "All lists of a user shared one sample.",
            }
        ),
    ),
    Decision(
        "candidates.replacement",
        "May an item be drawn twice for one list (it is then ranked once)?",
        "flag",
        default=False,
        when=(_OPEN, _SAMPLED),
        wording=Wording(
            phrases={
                "true": "with replacement, where an item that is drawn twice is ranked once",
                "false": "without replacement",
            }
        ),
    ),
    Decision(
        "candidates.rated_negatives",
        "May test items that the user rated, but not as relevant, be in the list?",
        options=(
            Option("include", "yes, as non-relevant items", cite="Bellogín 2012, section 4.3.1"),
            Option("exclude", "no", reads=("relevance",)),
        ),
        default="include",
        when=(_OPEN,),
        acts_on=("graded",),
        wording=Wording(
            says={
                "include": "Test items that the user had rated, but not as relevant, could be among them.",
                "exclude": ("Test items that the user had rated, but not as relevant, were kept out of the list."),
            }
        ),
    ),
    Decision(
        "candidates.strata",
        "Do the items of a list come from one stratum of items?",
        options=(
            Option("none", "no"),
            Option(
                "popularity",
                "yes: from the popularity percentile of the relevant item; the metric is "
                "averaged over percentiles (P1R)",
                cite="Bellogín 2012, section 4.6.1",
            ),
        ),
        default="none",
        when=(_OPEN, _SAMPLED, When("candidates.relevant", ("one",))),
        contradicts=(
            Contradiction(
                "average.no_relevant",
                'a user without relevant items belongs to no percentile; use average.no_relevant = "skip"',
                ("popularity",),
                ("zero", "one", "nan"),
            ),
        ),
        wording=Wording(
            says={
                "popularity": (
                    "All items of a list came from the same of {candidates.strata_count:popularity "
                    "percentile} as its relevant item, by {candidates.strata_by}, and metrics were "
                    "averaged over percentiles (P1R)."
                ),
            },
            absent=("none", "stratification of candidates by popularity"),
        ),
    ),
    Decision(
        "candidates.strata_count",
        "How many percentiles?",
        "integer",
        default=10,
        minimum=2,
        when=(When("candidates.strata", ("popularity",)),),
    ),
    Decision(
        "candidates.strata_by",
        "Popular by which rows?",
        options=(
            Option("all", "all rows of the data set, training and test"),
            Option("train", "the training rows"),
        ),
        default="all",
        when=(When("candidates.strata", ("popularity",)),),
        wording=Wording(
            phrases={
                "all": "the number of interactions in the whole data set",
                "train": "the number of training interactions",
            }
        ),
    ),
)
