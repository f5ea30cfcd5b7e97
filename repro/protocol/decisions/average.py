"""Who is averaged, and how."""

from repro.protocol.decision import Decision, Option

DECISIONS = (
    Decision(
        "average.over",
        "What is averaged?",
        options=(
            Option("users", "the lists of a user first, then the users: each user counts once"),
            Option(
                "lists",
                "all lists: in 1R, every pair of a user and a relevant item counts once",
                cite="Bellogín 2012, eq. 4.1",
            ),
            Option(
                "pooled",
                "nothing: the sum of the numerators over the sum of the denominators",
                used_by=("implicit",),
            ),
        ),
        default="users",
    ),
    Decision(
        "average.no_relevant",
        "What does a test user without relevant items count?",
        options=(
            Option("skip", "nothing: left out of the average"),
            Option("zero", "0"),
            Option("one", "1"),
            Option("nan", "not a number: it spoils the average, as some frameworks have it"),
        ),
        default="skip",
    ),
    Decision(
        "average.no_list",
        "What does a test user count whose list is empty?",
        options=(
            Option("zero", "what the metric makes of an empty list: the worst, 0 for most"),
            Option("skip", "nothing: left out of the average"),
        ),
        default="zero",
    ),
    Decision(
        "average.folds",
        "How are folds joined?",
        options=(
            Option("mean", "each fold's number counts the same"),
            Option("pooled", "the folds' users (or lists, or pairs) are averaged together"),
        ),
        default="mean",
    ),
)
