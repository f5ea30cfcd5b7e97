"""The decisions of the split: ``split.strategy``, and what strategies leave open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from repro.protocol import AnyOf, Contradiction, Decision, Option, When
from repro.protocol.decision import REQUIRED, Kind
from repro.protocol.decisions.candidates import VALIDATED
from repro.split.plan import Strategy
from repro.split.validation import SHARE


def split_decisions(strategies: Sequence[Strategy]) -> tuple[Decision, ...]:
    """The decisions of the split, each of which applies to the strategies that read it."""

    def read_by(decision: str, other_than: str = "") -> When:
        readers = (s for s in strategies if decision in s.reads and other_than not in s.reads)
        return When("split.strategy", tuple(strategy.option.value for strategy in readers))

    def own(id: str, question: str, kind: Kind, **fields: Any) -> Decision:
        """A decision that applies to the strategies that read it."""
        return Decision(id, question, kind, when=(read_by(id),), **fields)

    def own_choice(id: str, question: str, *options: Option, **fields: Any) -> Decision:
        """As ``own``, between options."""
        return Decision.choice(id, question, *options, when=(read_by(id),), **fields)

    # Strategies that hold out validation rows together with the test rows.
    three_way = tuple(strategy.option.value for strategy in strategies if strategy.validation != SHARE)
    # Strategies that leave each test user, or each test item, a training row.
    users_seen = tuple(strategy.option.value for strategy in strategies if strategy.leaves_users)
    rounded = read_by("split.rounding").values
    items_seen = read_by("split.train_floor").values
    return (
        Decision.choice(
            "split.strategy",
            "How are interactions held out?",
            *(strategy.option for strategy in strategies),
            Option(
                "leave-one-last",
                "each user's latest row",
                means={"split.strategy": "all-but-n", "split.n": 1, "split.order": "time"},
            ),
            Option(
                "time-ratio", "the latest share of all rows", means={"split.strategy": "ratio", "split.order": "time"}
            ),
            Option(
                "user-time-ratio",
                "the latest share of every user's rows",
                means={"split.strategy": "user-ratio", "split.order": "time"},
            ),
            default=REQUIRED,
            sentence="We held out interactions with the splitter {value} of a framework: {meaning}.",
        ),
        own_choice(
            "split.order",
            "Which rows are held out?",
            Option("random", "a random choice", "The interactions held out were a random choice."),
            Option("time", "the latest ones", "The interactions held out were the latest ones."),
            texts={"random": "a random", "time": "the latest"},
        ),
        Decision.share(
            "split.test_ratio",
            "Which share is held out for testing?",
            default=0.2,
            when=(read_by("split.test_ratio"),),
            contradicts=(
                Contradiction(
                    "split.validation_ratio", "nothing is left for training; lower one of them", relation="sum below 1"
                ),
            ),
        ),
        own_choice(
            "split.holdout",
            "What is held out of a test user's rows?",
            Option("ratio", "a share of them", "{split.holdout_ratio:%} of their interactions were"),
            Option("all-but-n", "n of them", "{split.holdout_n} of each user's interactions were"),
            Option("given-n", "all but n of them", "all but {split.holdout_n} of each user's interactions were"),
        ),
        Decision.share(
            "split.holdout_ratio",
            "Which share of a test user's rows is held out?",
            default=0.2,
            when=(read_by("split.holdout"), When("split.holdout", ("ratio",))),
        ),
        Decision(
            "split.holdout_n",
            "The n of split.holdout?",
            "integer",
            minimum=1,
            when=(read_by("split.holdout"), When("split.holdout", ("all-but-n", "given-n"))),
        ),
        own("split.n", "The n of given-n or all-but-n?", "integer", minimum=1),
        own("split.folds", "How many parts?", "integer", default=5, minimum=2),
        Decision(
            "split.repeats",
            "How often is the split drawn anew?",
            "integer",
            default=1,
            minimum=1,
            when=(
                # Strategies that do not read split.order draw rows at random.
                AnyOf(When("split.order", ("random",)), read_by("split.repeats", other_than="split.order")),
                read_by("split.repeats"),
            ),
            sentence="The split was drawn anew {value:time}, and every draw was evaluated.",
            absent="repetition of the split",
        ),
        Decision.choice(
            "split.rounding",
            "How is a share of a user's rows made a whole number?",
            Option("round", "to the nearest, halves up", "to the nearest whole number"),
            Option("floor", "down", "down"),
            Option("ceil", "up", "up"),
            when=(
                AnyOf(
                    read_by("split.rounding"),
                    When("split.holdout", ("ratio",)),
                    When("split.validation_of", ("users",)),
                ),
            ),
            sentence="Shares of a user's interactions were rounded {value}.",
        ),
        own_choice(
            "split.short_users",
            "What happens to users with too few rows to hold out n and keep one?",
            Option(
                "train", "they stay in training whole, and are not tested", "stayed in training and were not tested"
            ),
            Option("drop", "they are left out altogether", "were left out altogether"),
            sentence="Users with too few interactions for this {value}.",
        ),
        own("split.time", "After which timestamp are rows held out?", "number"),
        Decision.choice(
            "split.equal_times",
            "In which order do rows with equal timestamps come?",
            Option("item-asc", "by item id, then user id, ascending", "were ordered by item id, then by user id"),
            Option("source", "as in the source file", "kept the order of the source"),
            Option("random", "at random", "were ordered at random"),
            when=(AnyOf(When("split.order", ("time",)), When("split.validation_order", ("time",))),),
            sentence="Interactions with equal timestamps {value}.",
        ),
        own(
            "split.test_users",
            "How many users are sampled for testing?",
            "integer",
            default="all",
            minimum=1,
            words=("all",),
            sentence="We sampled {value:test user}.",
            texts={"all": "All users with enough interactions were test users."},
        ),
        own_choice(
            "split.clock",
            "Which moment separates the past of a test user from the future?",
            Option("shared", "one sampled moment for all test users", "once for all test users"),
            Option(
                "own",
                "a sampled moment for each user; the other users' rows are not cut",
                "for each test user; the interactions of the other users were not cut at it",
                when=(When("split.test_users", other_than=(1,)),),
                instead='use "shared", which is the same for one test user',
            ),
            Option(
                "each",
                "a sampled moment for each user, and a training set of its own: only what all "
                "users did before that moment (one fold per test user)",
                "for each test user, for whom the algorithms were trained on what all users did before it",
            ),
            cite="Gunawardana & Shani 2009, section 4.2",
            sentence="The moment was sampled {value}.",
        ),
        Decision.share(
            "split.train_floor",
            "Which share of a target item's rows must stay in training (epsilon)?",
            default=0.2,
            when=(read_by("split.train_floor"),),
            cite="Bellogín 2012, section 4.6.2",
        ),
        Decision.share(
            "split.validation_ratio",
            "Which share (of all rows, or of every user's rows) is set apart for validation?",
            default=0.0,
            when=(read_by("split.validation_ratio"),),
            sentence="A further {value:%} were set apart for validation in the same way.",
            absent="validation set",
        ),
        own(
            "split.validation_n",
            "How many rows of every user are set apart for validation?",
            "integer",
            default=0,
            minimum=0,
            sentence="A further {value:interaction} of every user were set apart for validation.",
            absent="validation set",
        ),
        Decision.share(
            "split.validation_share",
            "Which share of the training rows of each fold is set apart for validation?",
            default=0.0,
            when=(When("split.strategy", other_than=three_way),),
            sentence="We set {split.validation_order} {value:%} of {split.validation_of} apart for validation.",
            absent="validation set",
        ),
        Decision.choice(
            "split.validation_of",
            "Of what is that share taken?",
            Option(
                "rows",
                "of all training rows of the fold, whoever they belong to",
                "the training interactions of each fold",
            ),
            Option("users", "of every user's training rows", "every user's training interactions in each fold"),
            when=(When("split.validation_share", above=0),),
        ),
        Decision.choice(
            "split.validation_order",
            "Which training rows are set apart for validation?",
            Option("random", "a random choice, another one in each fold", "a random"),
            Option("time", "the latest ones", "the latest"),
            when=(When("split.validation_share", above=0),),
        ),
        Decision.choice(
            "split.fitted_on",
            "Which rows are the algorithms fitted on for the test?",
            Option("train", "the training part", "the training set"),
            Option(
                "train+validation",
                "the training and the validation part together",
                "the training and the validation set together",
                when=(VALIDATED,),
                instead='set a validation part apart, or use "train"',
            ),
            Option(
                "all",
                "all rows, those of the test included: the numbers say nothing about new rows",
                "all interactions, those of the test set included",
            ),
            sentence="For the test, algorithms were fitted on {value}.",
        ),
        Decision.choice(
            "split.tuned_on",
            "Which part are parameters chosen on, where a study tunes them?",
            Option("validation", "the validation part", "the validation set"),
            Option(
                "test",
                "the test part itself: the numbers are those of the luckiest parameters",
                "the test set itself",
            ),
            sentence="Where parameters were tuned, they were chosen on {value}.",
            absent="choice of parameters by the test set",
        ),
        own("split.train_file", "The training rows?", "path"),
        own("split.test_file", "The test rows?", "path"),
        own(
            "split.validation_file",
            "The validation rows?",
            "path",
            default="none",
            sentence="The validation set was given too, as the file {value}.",
            absent="validation set",
        ),
        own("split.fold_file", "The table that says which rows a fold holds out?", "path"),
        Decision.share(
            "split.head",
            "Which share of the most popular items is taken out of test and candidates?",
            default=0.0,
            cite="Cremonesi et al. 2010",
            sentence=(
                "We took the most popular {value:%} of the items out of the test set and of the candidates, "
                "as they make for trivial hits."
            ),
            absent="removal of popular items",
        ),
        Decision.choice(
            "split.unseen_users",
            "What happens to test rows of users without any training row?",
            Option("keep", "they are tested", "tested like all others"),
            Option("drop", "they are left out of the test", "left out of the test set"),
            when=(
                AnyOf(When("split.strategy", other_than=users_seen), When("split.validation_share", above=0)),
                # Of a user's rows, shares that are rounded down never take all.
                AnyOf(
                    When("split.strategy", other_than=(*users_seen, *rounded)),
                    When("split.validation_of", ("rows",)),
                    When("split.rounding", other_than=("floor",)),
                ),
            ),
            sentence="Users without any training interaction were {value}.",
        ),
        Decision.choice(
            "split.unseen_items",
            "What happens to test rows of items without any training row?",
            Option("keep", "they are tested", "stayed in the test set"),
            Option("drop", "they are left out of the test", "were left out of the test set"),
            acts_on=("unknown-items",),
            own_search=True,
            when=(
                AnyOf(
                    When("split.strategy", other_than=items_seen),
                    When("split.train_floor", (0.0,)),
                    When("split.validation_share", above=0),
                ),
            ),
            sentence="Items without any training interaction {value}.",
        ),
        *(decision for strategy in strategies for decision in strategy.decisions),
    )
