"""In which order equal scores come."""

from repro.protocol.decision import Decision, Option, When

# Options that are there where candidates come from a file, and what to use elsewhere.
_IN_FILE = (When("candidates.base", ("file",)),)
_NO_FILE = 'use "data", the order of the data set, or "item-asc"'

DECISIONS = (
    Decision.choice(
        "ties.break",
        "In which order do items with equal scores come?",
        Option("item-asc", "by item id, ascending", "were ordered by item id, ascending {ties.id_order}"),
        Option("item-desc", "by item id, descending", "were ordered by item id, descending {ties.id_order}"),
        Option(
            "rows",
            "as in the rows of the user's recommendations; a study has none, and refuses it",
            "were ordered as in the rows of the recommendations",
            needs="rows",
        ),
        Option(
            "rows-desc",
            "as in the rows of the user's recommendations, the last one first",
            "were ordered as in the rows of the recommendations, the last one first",
            needs="rows",
        ),
        Option(
            "data",
            "as the items first appear in the data set: in all of its rows that the data decisions keep, in the "
            "order in which they were read; where parts are given apart, in the training rows, then in the others",
            "were ordered as they first appear in the data set",
        ),
        Option(
            "data-desc",
            "as the items first appear in the data set, the last one first",
            "were ordered by their first appearance in the data set, the last one first",
        ),
        Option(
            "file",
            "as in candidates.file, for each list; ties.file_relevant places relevant items that the file lacks",
            "were ordered as in the file of candidates, relevant items that it does not list {ties.file_relevant}",
            when=_IN_FILE,
            instead=_NO_FILE,
            searchable=False,
        ),
        Option(
            "file-desc",
            "as in candidates.file, the last one first; ties.file_relevant places relevant items that the file does "
            "not list before this order is reversed",
            "were ordered as in the file of candidates, relevant items that it does not list {ties.file_relevant}, and "
            "the last one first",
            when=_IN_FILE,
            instead=_NO_FILE,
            searchable=False,
        ),
        Option(
            "random",
            "at random, from the study's seed, for each user anew",
            "were ordered at random, for each user anew",
        ),
        Option(
            "expected",
            "in all orders: the metric is its exact expectation over them",
            "Where items had equal scores, a metric was its exact expectation over all of their orders.",
            cite="McSherry & Najork 2008",
            gives_order=False,
        ),
        Option(
            "best",
            "in the order that is best for the metric: no order gives a higher value (a lower one, where lower is "
            "better); a metric for which that order cannot be computed is refused",
            "came in the order that is best for each metric: no order gives a better value",
            gives_order=False,
        ),
        Option(
            "worst",
            "in the order that is worst for the metric: no order gives a lower value (a higher one, where lower is "
            "better); a metric for which that order cannot be computed is refused",
            "came in the order that is worst for each metric: no order gives a worse value",
            gives_order=False,
        ),
        Option(
            "shared-best",
            "at the same rank: that of the first of them",
            "shared the rank of the first of them",
            gives_order=False,
        ),
        Option(
            "shared-mean", "at the same rank: the mean of theirs", "shared the mean of their ranks", gives_order=False
        ),
        Option(
            "shared-worst",
            "at the same rank: that of the last of them",
            "shared the rank of the last of them",
            used_by=("cornac",),
            gives_order=False,
        ),
        Option(
            "trec",
            "as trec_eval: single precision, item id as text, descending",
            used_by=("pytrec_eval", "ir_measures"),
            means={"ties.break": "item-desc", "ties.id_order": "text", "ties.precision": "single"},
        ),
        acts_on=("ties",),
        sentence="Items with equal scores {value}.",
    ),
    Decision.choice(
        "ties.file_relevant",
        "Where do relevant items stand that candidates.file does not list?",
        Option("last", "after the items that it lists, by item id", "after the others"),
        Option("first", "before the items that it lists, by item id", "before the others"),
        acts_on=("ties",),
        own_search=False,
        when=(When("ties.break", ("file", "file-desc")),),
    ),
    Decision.choice(
        "ties.id_order",
        "How are item ids compared?",
        Option("number", "as numbers where all of them are, else as text", "(as numbers where all ids are)"),
        Option("text", "as text", "(as text)"),
        acts_on=("ties",),
        when=(When("ties.break", ("item-asc", "item-desc")),),
    ),
    Decision.choice(
        "ties.precision",
        "When are two scores equal?",
        Option("double", "when they are equal in double precision", "in double precision"),
        Option("single", "when they are equal in single precision", "in single precision", used_by=("pytrec_eval",)),
        Option(
            "decimals",
            "when they are equal after rounding to ties.decimals",
            "after rounding to {ties.decimals:decimal}",
        ),
        own_stage="precision",
        acts_on=("ties",),
        sentence="Two scores were equal if they were {value}.",
    ),
    Decision(
        "ties.decimals",
        "How many decimals?",
        "integer",
        minimum=0,
        maximum=15,
        typical=(1, 2, 3, 4, 6),
        when=(When("ties.precision", ("decimals",)),),
        own_stage="precision",
        acts_on=("ties",),
    ),
)
