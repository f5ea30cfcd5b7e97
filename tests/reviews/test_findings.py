"""Each finding on a small folder whose numbers are counted by hand."""

from collections import Counter
from itertools import combinations, product

import numpy as np
import pytest

from repro.errors import StudyError
from repro.reviews import Paper, Stated, read_paper
from repro.reviews.checks.split import popularity_deviation
from tests.reviews.artefacts import found, lines, reviewed, wrong

# user, item, rating, time: three users with the latest row of each in the test part
TRAIN = [(1, 10, 4, 1), (1, 11, 5, 2), (1, 12, 3, 3), (2, 10, 4, 1), (2, 11, 5, 4), (3, 12, 4, 2), (3, 10, 4, 3)]
TEST = [(1, 13, 4, 9), (2, 12, 5, 8), (3, 11, 4, 9)]
CLEAN = {"train.txt": lines(TRAIN), "test.txt": lines(TEST)}


def files(train=TRAIN, test=TEST, **others):
    return {"train.txt": lines(train), "test.txt": lines(test), **others}


def the(result, check):
    (finding,) = found(result, check)
    return finding


def test_a_clean_split_that_is_what_it_says_has_no_errors_or_warnings(tmp_path):
    stated = Stated(
        users=3, items=4, rows=10, train_rows=7, test_rows=3, test_users=3, split="leave-one-out", order="time"
    )
    result = reviewed(tmp_path, CLEAN, **dict(stated.lists))
    assert wrong(result) == []
    assert the(result, "order-in-time").text == "no test row is older than a training row of the same user"


def test_a_test_row_in_training(tmp_path):
    leak = the(reviewed(tmp_path, files(train=[*TRAIN, (2, 12, 1, 1)])), "test-in-train")
    assert (leak.severity, leak.count, leak.total) == ("error", 1, 3)
    assert leak.examples[0].sentence == "user 2, item 12 (train.txt line 8; test.txt line 2)"


def test_lines_count_blank_lines_comments_and_the_header(tmp_path):
    train = "user,item\n\n1,10\n\n# a comment\n1,11\n"
    leak = the(reviewed(tmp_path, {"train.csv": train, "test.csv": "user,item\n2,10\n1,11\n"}), "test-in-train")
    assert leak.examples[0].places == ("train.csv line 6", "test.csv line 3")


def test_validation_that_is_the_test_part(tmp_path):
    shuffled = [TEST[2], TEST[0], TEST[1]]
    result = reviewed(tmp_path, files(**{"valid.txt": lines(shuffled)}))
    assert the(result, "validation-is-test").count == 3
    assert not found(result, "test-in-validation")
    result = reviewed(tmp_path, {"valid.txt": lines(shuffled[:2])})
    assert not found(result, "validation-is-test")
    assert the(result, "test-in-validation").count == 2


def test_repeated_rows(tmp_path):
    repeated = the(reviewed(tmp_path, files(train=[*TRAIN, TRAIN[0], TRAIN[0], (3, 12, 1, 7)])), "repeated-rows")
    assert (repeated.severity, repeated.count, repeated.total) == ("warning", 3, 10)
    assert repeated.examples[0].places == ("train.txt line 1", "train.txt line 8")


def test_unseen_users_and_items(tmp_path):
    result = reviewed(tmp_path, files(test=[*TEST, (9, 10, 1, 9), (9, 77, 1, 9)]))
    users, items = the(result, "unseen-users"), the(result, "unseen-items")
    assert (users.severity, users.count, users.total) == ("warning", 1, 4)
    assert "2 test rows" in users.text
    assert (items.severity, items.count, items.total) == ("note", 2, 5)  # 13 and 77 of 10, 11, 12, 13, 77


def test_users_of_a_fold_in_part_are_not_unseen(tmp_path):
    data = {"train.csv": "1,10\n1,11\n", "test_tr.csv": "2,10\n", "test_te.csv": "2,11\n"}
    assert not found(reviewed(tmp_path, data), "unseen-users")
    data["test_tr.csv"] += "2,11\n"
    assert the(reviewed(tmp_path, data), "test-in-fold-in").count == 1


NEGATIVES = "(1,13)\t14\t15\n(2,12)\t14\t13\n(3,11)\t13\t14\n"


def with_negatives(text):
    return files(**{"test.negative": text})


def test_negatives_that_are_positives(tmp_path):
    assert wrong(reviewed(tmp_path, with_negatives(NEGATIVES))) == []
    own = the(
        reviewed(tmp_path, with_negatives(NEGATIVES.replace("(2,12)\t14", "(2,12)\t12"))), "target-among-negatives"
    )
    assert (own.severity, own.count, own.total) == ("error", 1, 6)
    assert own.examples[0].sentence == "user 2, item 12 (test.negative line 2)"
    trained = reviewed(tmp_path, with_negatives(NEGATIVES.replace("(3,11)\t13", "(3,11)\t10")))
    assert the(trained, "train-items-among-negatives").examples[0].text == "user 3, item 10"
    assert not found(trained, "target-among-negatives")


def test_other_test_items_among_negatives_and_lists_without_pairs(tmp_path):
    data = files(test=[*TEST, (1, 15, 4, 9)], **{"test.negative": "1\t14\t15\n2\t14\t13\n3\t13\t14\n"})
    positives = the(reviewed(tmp_path, data), "test-items-among-negatives")
    assert (positives.severity, positives.count) == ("error", 1)
    assert positives.examples[0].text == "user 1, item 15"


def test_lengths_of_negatives_and_repeated_ones(tmp_path):
    data = with_negatives("(1,13)\t14\t15\t15\n(2,12)\t14\t13\n(3,11)\t13\t14\n")
    result = reviewed(tmp_path, data)
    assert the(result, "length-of-negatives").text.startswith("lists of negatives have 2 to 3 items; 1 of 3")
    assert the(result, "repeated-negatives").count == 1
    stated = the(reviewed(tmp_path, data, negatives=2), "length-of-negatives")
    assert (stated.severity, stated.count, stated.total) == ("error", 1, 3)
    assert the(reviewed(tmp_path, data, negatives=99), "length-of-negatives").count == 3


def test_lists_without_test_rows_and_test_rows_without_lists(tmp_path):
    result = reviewed(tmp_path, with_negatives("(1,13)\t14\t15\n(2,13)\t14\t15\n"))
    assert the(result, "test-rows-without-negatives").count == 2  # of users 2 and 3
    assert the(result, "negatives-without-test-row").count == 1


def test_order_in_time(tmp_path):
    data = files(test=[(1, 13, 4, 2), (2, 12, 5, 4), (3, 11, 4, 9)])  # user 1 too early, user 2 at the same time
    result = reviewed(tmp_path, data, order="time")
    (order,) = found(result, "order-in-time")
    assert (order.severity, order.count, order.total) == ("error", 1, 3)
    assert "1 have the same time as its latest one" in order.text
    assert order.examples[0].sentence == "user 1, item 13, time 2 before 3 (test.txt line 1; train.txt line 3)"
    assert the(reviewed(tmp_path, data), "order-in-time").severity == "note"  # nothing is stated
    overall = the(result, "test-before-end-of-training")
    assert (overall.severity, overall.count) == ("note", 1)  # time 2 is before 4, the latest training row
    assert the(reviewed(tmp_path, data, order="time", split="ratio", test_share=0.3), overall.check).severity == "error"


def test_order_without_times_is_undetermined(tmp_path):
    data = {"train.txt": "1\t10\n1\t11\n", "test.txt": "1\t12\n"}
    assert the(reviewed(tmp_path, data, order="time"), "order-in-time").severity == "undetermined"
    constant = {"train.txt": "1\t10\t1\t0\n1\t11\t1\t0\n", "test.txt": "1\t12\t1\t0\n"}  # as of Pinterest in NCF
    assert the(reviewed(tmp_path, constant, order="time"), "order-in-time").severity == "undetermined"
    assert not found(reviewed(tmp_path, data), "order-in-time")


def test_leave_one_out(tmp_path):
    more = [*TEST, (1, 14, 4, 9)]
    rows = the(reviewed(tmp_path, files(test=more), split="leave-one-out"), "rows-per-user")
    assert (rows.severity, rows.count, rows.total) == ("error", 1, 3)
    assert rows.examples[0].text == "user 1 has 2 rows"
    fewer = the(reviewed(tmp_path, files(test=TEST[1:]), split="leave-one-out"), "users-without-test-rows")
    assert (fewer.severity, fewer.count, fewer.total) == ("error", 1, 3)
    assert the(reviewed(tmp_path, files(test=more), test_per_user=1), "rows-per-user").count == 1
    assert the(reviewed(tmp_path, files(test=more)), "rows-per-user").severity == "note"


def test_shares(tmp_path):
    exact = reviewed(tmp_path, CLEAN, split="ratio", test_share=0.3)
    assert not found(exact, "test-share")
    share = the(reviewed(tmp_path, CLEAN, split="ratio", test_share=0.2), "test-share")
    assert (share.severity, share.count) == ("error", 1)
    # Of 4, 3 and 3 rows of the users, a share of 0.3 is 1.2, 0.9 and 0.9 rows; of 0.6, it is 2.4, 1.8 and 1.8.
    assert not found(reviewed(tmp_path, CLEAN, split="user-ratio", test_share=0.3), "share-per-user")
    of_users = the(reviewed(tmp_path, CLEAN, split="user-ratio", test_share=0.6), "share-per-user")
    assert (of_users.count, of_users.examples[0].text) == (1, "user 1: 1 of 4 rows")


def test_cores(tmp_path):
    # Rows of users 1, 2, 3: 4, 3, 3; of items 10 to 13: 3, 3, 3, 1.
    result = reviewed(tmp_path, CLEAN, user_core=3, item_core=3)
    users, items = the(result, "user-core"), the(result, "item-core")
    assert (users.severity, users.text) == ("note", "each user has at least 3 rows, as stated")
    assert (items.severity, items.count, items.total) == ("error", 1, 4)
    assert items.examples[0].text == "item 13 has 1 row"


def test_ratings(tmp_path):
    low = the(reviewed(tmp_path, CLEAN, min_rating=4), "ratings")
    assert (low.count, low.examples[0].sentence) == (1, "user 1, item 12, rating 3 (train.txt line 3)")
    without = found(reviewed(tmp_path, {"train.txt": "1\t2\n", "test.txt": "1\t3\n"}, min_rating=4), "ratings")
    assert {finding.severity for finding in without} == {"undetermined"}


def test_ids_that_count_from_0_in_one_part_and_from_1_in_the_other(tmp_path):
    data = {"train.txt": "1\t1\n2\t3\n3\t2\n", "test.txt": "0\t1\n1\t2\n2\t3\n"}
    shifted = the(reviewed(tmp_path, data), "shifted-ids")
    assert shifted.severity == "undetermined" and shifted.text.startswith("users have the ids 1 to 3")
    assert not found(reviewed(tmp_path, {**data, "test.txt": "0\t1\n1\t2\n3\t3\n"}), "shifted-ids")


def test_labels_in_the_place_of_ratings(tmp_path):
    data = {"train.txt": "1\t10\t1\n1\t11\t0\n2\t10\t0\n", "test.txt": "1\t12\t1\n"}
    labels = the(reviewed(tmp_path, data), "labels")
    assert (labels.severity, labels.count, labels.total) == ("undetermined", 2, 3)
    assert labels.examples[0].sentence == "user 1, item 11 (train.txt line 2)"


def test_sizes(tmp_path):
    result = reviewed(tmp_path, CLEAN, users=4, items=13, rows=10)
    errors = [finding.text for finding in found(result, "sizes") if finding.severity == "error"]
    assert errors == [
        "4 users are stated, and the files have 3 (-1); the stated number is the highest id, 3, plus 1",
        "13 items are stated, and the files have 4 (-9); the stated number is the highest id",
    ]
    alone = reviewed(tmp_path / "alone", {"test.txt": lines(TEST)}, users=3)
    assert the(alone, "sizes").severity == "undetermined"
    assert the(reviewed(tmp_path / "alone", {}, test_users=1000), "test-users").count == 997
    assert the(reviewed(tmp_path / "alone", {}, train_rows=7), "train-rows").severity == "undetermined"


def test_known_data_is_named_and_unknown_data_is_undetermined(tmp_path):
    # HetRec's Last.fm: 1,892 users, 17,632 items, 92,834 rows.
    rows = [(n % 1892, n % 17632) for n in range(92_834)]
    assert len(set(rows)) == 92_834
    result = reviewed(tmp_path, {"all.csv": "user,item\n" + lines(rows, ",")})
    assert "HetRec 2011 Last.fm" in the(result, "identified").text
    assert the(reviewed(tmp_path / "other", CLEAN), "identified").text == "no known data has these sizes"


def test_sequences_whose_last_item_occurs_before(tmp_path):
    result = reviewed(tmp_path, {"Yelp.txt": "1 5 6 5\n2 5 6 7\n3 6 6 8 9\n"})
    last = the(result, "last-item-repeated")
    assert (last.count, last.total, last.examples[0].text) == (1, 3, "user 1, item 5")
    assert the(result, "repeated-rows").count == 2


def test_a_random_choice_is_judged_by_all_choices():
    """The standardised popularity of test items, against an enumeration of all choices."""
    from tests.reviews.test_split_model import part_of

    rows = {0: [0, 1, 2, 3], 1: [0, 1, 4], 2: [0, 2]}
    drawn = {0: [3, 2], 1: [4], 2: [2]}
    every = [(user, item) for user, items in rows.items() for item in items]
    held = [(user, item) for user, items in drawn.items() for item in items]
    train = [row for row in every if row not in held]
    popularity = Counter(item for _, item in every)
    sums = [
        sum(popularity[item] for items in choice for item in items)
        for choice in product(*(list(combinations(rows[user], len(drawn[user]))) for user in rows))
    ]
    sigmas, observed, expected = popularity_deviation([part_of(train), part_of(held)], part_of(held))
    own = sum(popularity[item] for _, item in held)
    assert observed == pytest.approx(own / len(held))
    assert expected == pytest.approx(np.mean(sums) / len(held))
    assert sigmas == pytest.approx((own - np.mean(sums)) / np.std(sums))


def test_a_choice_by_popularity_is_found_and_a_random_one_is_not(tmp_path):
    draws = np.random.default_rng(3)
    train, test, biased_train, biased_test = [], [], [], []
    for user in range(300):
        items = sorted({item for item in draws.zipf(1.3, 60).tolist() if item <= 200})
        chosen = set(draws.choice(items, max(1, len(items) // 5), replace=False).tolist())
        train += [(user, item) for item in items if item not in chosen]
        test += [(user, item) for item in chosen]
        rare = set(items[-max(1, len(items) // 5) :])  # items of low numbers are popular
        biased_train += [(user, item) for item in items if item not in rare]
        biased_test += [(user, item) for item in rare]
    honest = the(reviewed(tmp_path / "a", files(train, test), order="random"), "random-choice")
    assert honest.severity == "note" and "may be a random choice" in honest.text
    biased = files(biased_train, biased_test)
    assert the(reviewed(tmp_path / "b", biased, order="random"), "random-choice").severity == "error"
    assert the(reviewed(tmp_path / "b", biased), "random-choice").severity == "note"


def test_what_a_paper_states_about_single_data_sets(tmp_path):
    paper = tmp_path / "paper.toml"
    paper.write_text('split = "leave-one-out"\n[data."*ml-1m"]\nusers = 5\n[data.netflix]\nusers = 9\n')
    stated = read_paper(paper)
    assert stated.about("Data/ml-1m") == Stated(users=5, split="leave-one-out")
    assert stated.about("other") == Stated(split="leave-one-out")
    assert stated.unknown(["Data/ml-1m"]) == ["netflix"]
    assert Paper().about("any") == Stated()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user = 5", "there is no 'user'; did you mean 'users'"),
        ('users = "5"', "users is '5'; a whole number was expected"),
        ("users = true", "a whole number was expected"),
        ("rows = -1", "a number from 0 was expected"),
        ('split = "loo"', "split is 'loo'"),
        ('split = "ratio"', "needs the share"),
        ("test_share = 20", "a share between 0 and 1"),
        ("[data]\nml = 1", "must have a table for each data set"),
        ("[data.ml]\nitem = 1", r"\[data.ml\]: there is no 'item'"),
        ("users = ", "cannot read"),
    ],
)
def test_what_a_paper_cannot_state(tmp_path, text, message):
    (tmp_path / "paper.toml").write_text(text)
    with pytest.raises(StudyError, match=message):
        read_paper(tmp_path / "paper.toml")
