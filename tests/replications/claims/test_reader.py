"""Claim files: what is refused, and with which sentence."""

import pytest

from repro.errors import ReproError
from repro.replications import Claim

TABLE = """
[table]
metrics = ["ndcg@10", "rmse"]
Pop = ["0.1", "-"]
Bias = ["0.2", "0.98"]
"""


def test_a_good_claim_reads(write):
    claim = Claim.load(write(TABLE))
    assert [(cell.key.algorithm, cell.key.metric, cell.printed.text) for cell in claim.cells] == [
        ("Pop", "ndcg@10", "0.1"),
        ("Bias", "ndcg@10", "0.2"),
        ("Bias", "rmse", "0.98"),
    ]
    assert claim.seeds == (7,) and claim.settings[""].stated == {"split.folds"}
    assert claim.settings[""].protocol.origins["split.folds"].startswith("claim.toml:")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title =", "titel =", r"claim.toml:2: unknown key 'titel'; did you mean 'title'"),
        ('title = "A tiny table"', 'title = ""', "has no title"),
        ("source =", "notes =", "has no source"),
        ("seeds = [7]", "seeds = 7", r":4: seeds = 7 must be a list of whole numbers"),
        ("split.folds = 2", "split.fold = 2", r"claim.toml:11: unknown decision 'split.fold'; did you mean"),
        ("split.folds = 2", 'open = ["ties.brake"]', r":11: open: there is no decision or family 'ties.brake'"),
        ("split.folds = 2", 'split.folds = 2\nopen = ["split.folds"]', "split.folds is both stated and open"),
        ('label = "Pop"', 'label = "Bias"', "two algorithms are labelled 'Bias'"),
        ("[table]", "[tabel]", "unknown key 'tabel'; did you mean 'table'"),
        ("Pop = [", "Popp = [", r":23: 'Popp' is not an algorithm or system of the claim; did you mean 'Pop'"),
        ('["0.1", "-"]', '["0.1"]', r":23: the row of Pop must have a number for each of the 2 metrics"),
        ('["0.1", "-"]', '[0.1, "-"]', r"write the number as it is printed, in quotes.*\"0.1\""),
        ('["0.1", "-"]', '["0,1", "-"]', "'0,1' is not a number"),
        ('"ndcg@10"', '"ndgc@10"', "there is no metric 'ndgc'; did you mean 'ndcg'"),
        (
            "[table]",
            '[tolerance]\nkind = "sedes"\n[table]',
            "must be one of rounding, seeds, interval; did you mean 'seeds'",
        ),
        ("[table]", '[tolerance]\nkind = "interval"\n[table]', "takes the authors' own width"),
        ("[table]", '[frameworks]\nsuprise = ["a==1"]\n[table]', "no framework 'suprise'; did you mean 'surprise'"),
        ("[table]", "[table]\nunder = 'p1r'", "there is no protocol 'p1r'"),
    ],
)
def test_invalid_claims_raise_errors(write, folder, old, new, message):
    path = write(TABLE)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ReproError, match=message):
        Claim.load(path)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("", "claims nothing; write a"),
        ('[[cells]]\nmetric = "rmse"\nvalue = "1"\n', "a cell names an algorithm or a system"),
        ('[[cells]]\nalgorithm = "Pop"\nmetric = "hit@5"\nvalu = "1"\n', r":23: unknown key 'valu' in \[cells\]"),
        ('[[facts]]\nname = "user"\nvalue = "3"\n', "there is no figure 'user'; did you mean 'users'"),
        ('[[patterns]]\nsays = "x"\nleft = 1\nis = "="\nright = 2\n', "is = '=' must be one of <, <=, >, >=, about"),
        ('[[patterns]]\nsays = "x"\nleft = 1\nis = "about"\nright = 2\n', 'is = "about" needs within'),
        (
            '[[patterns]]\nsays = "x"\nleft = { metric = "rmse" }\nis = "<"\nright = 2\n',
            "has an algorithm and a metric",
        ),
        (TABLE + '[[cells]]\nalgorithm = "Pop"\nmetric = "ndcg@10"\nvalue = "0.1"\n', "claimed twice"),
        ('[[systems]]\nlabel = "a"\nrun = "a.csv"\n' + TABLE, r"worked examples need \[examples\]"),
    ],
)
def test_statements_that_say_nothing_clear_are_refused(write, more, message):
    with pytest.raises(ReproError, match=message):
        Claim.load(write(more))


def test_an_error_names_the_line_of_the_second_cell(write):
    first = '[[cells]]\nalgorithm = "Pop"\nmetric = "hit@10"\nvalue = "0.5"\n'
    with pytest.raises(ReproError, match=r"claim.toml:27: '\?' is not a number"):
        Claim.load(write(first + '[[cells]]\nalgorithm = "Pop"\nmetric = "hit@20"\nvalue = "?"\n'))


def test_data_with_another_digest_is_refused(write):
    from repro.replications import replicate

    path = write(TABLE)
    path.write_text(path.read_text().replace('name = "ratings.csv"', 'name = "ratings.csv"\ndigest = "abc"'))
    with pytest.raises(ReproError, match=r"is about data with the digest abc, and ratings.csv here has"):
        replicate(path)
