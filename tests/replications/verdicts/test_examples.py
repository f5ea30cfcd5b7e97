"""Worked examples with the numbers of their sources: a tutorial on missing predictions, and the lists of a lecture."""

import pytest

from repro.errors import ReproError
from repro.replications import replicate

PAIRS = [("u1", "i1"), ("u1", "i2"), ("u1", "i3"), ("u2", "i1")]
HEAD = """
title = "What a missing prediction costs"
source = "a tutorial"
[examples]
truth = "truth.csv"
"""
SYSTEMS = {
    "Rec1": (4, 2, 1, 2),
    "Rec2": (8, 4, 2, 4),
    "Rec3": (5, 1, 1, 2),
    "Rec2, some": (None, 4, None, 4),
    "Rec3, some": (4, None, 1, None),
}
IGNORED = '"predict.missing" = "skip"'


def as_number(number):
    return f'"predict.missing" = "constant", "predict.constant" = {number}'


def rows(name, values):
    return f"user,item,{name}\n" + "".join(
        f"{user},{item},{'' if value is None else value}\n" for (user, item), value in zip(PAIRS, values, strict=True)
    )


@pytest.fixture
def claim(tmp_path):
    """Writes the claim with some cells: (system, metric, printed, set)."""
    (tmp_path / "truth.csv").write_text(rows("rating", (5, 3, 1, 3)))
    systems = ""
    for number, (label, values) in enumerate(SYSTEMS.items()):
        (tmp_path / f"{number}.csv").write_text(rows("score", values))
        systems += f'[[systems]]\nlabel = "{label}"\nrun = "{number}.csv"\n'

    def written(*cells, head=HEAD):
        text = "".join(
            f'[[cells]]\nsystem = "{label}"\nmetric = "{metric}"\nvalue = "{value}"\nset = {{ {changes} }}\n'
            for label, metric, value, changes in cells
        )
        (tmp_path / "claim.toml").write_text(head + systems + text)
        return tmp_path / "claim.toml"

    return written


def verdicts(path):
    return [judgement.verdict for judgement in replicate(path).judgements]


def test_complete_predictions(claim):
    cells = [
        *(("Rec1", "mae", "0.75", ""), ("Rec1", "rmse", "0.87", "")),
        *(("Rec2", "mae", "1.5", ""), ("Rec2", "rmse", "1.73", "")),
        *(("Rec3", "mae", "0.75", ""), ("Rec3", "rmse", "1.12", "")),
    ]
    assert verdicts(claim(*cells)) == ["exact"] * 6


def test_missing_predictions_as_a_number(claim):
    cells = [
        *(("Rec2, some", "mae", "2.00", as_number(0)), ("Rec2, some", "rmse", "2.65", as_number(0))),
        *(("Rec2, some", "mae", "1.50", as_number(3)), ("Rec2, some", "rmse", "1.58", as_number(3))),
        *(("Rec3, some", "mae", "1.75", as_number(0)), ("Rec3, some", "rmse", "2.18", as_number(0))),
        *(("Rec3, some", "mae", "0.25", as_number(3)), ("Rec3, some", "rmse", "0.50", as_number(3))),
    ]
    assert verdicts(claim(*cells)) == ["exact"] * 8


def test_what_no_setting_gives_is_an_erratum_with_its_arithmetic(claim):
    cells = [
        ("Rec2, some", "mae", "2.00", IGNORED),
        ("Rec2, some", "rmse", "2.00", IGNORED),
        ("Rec2, some", "mae", "2.00", as_number(0)),
    ]
    result = replicate(claim(*cells))
    assert [judgement.verdict for judgement in result.judgements] == ["erratum", "erratum", "exact"]
    assert result.summary == "1 exact, 2 erratum"
    mae, rmse, _ = result.judgements
    assert "the errors that count are 1, 1: mae is (1 + 1) / 2 = 1; not 2.00" in mae.why
    assert "settings of the decisions that are not stated" in mae.why
    # the cell beside it: the same predictions with missing ones as 0
    assert "it is what predict.constant = 0, predict.missing = constant gives" in mae.why
    assert "rmse is the root of (1 + 1) / 2 = 1; not 2.00" in rmse.why and rmse.value == 1.0


def test_digits_that_are_cut_off_in_a_table_that_rounds_are_an_erratum(claim):
    # Rec3 with gaps: errors 1 and 0, RMSE = sqrt(1 / 2) = 0.7071; Rec1: sqrt(3) / 2 = 0.8660 is rounded up
    cells = [("Rec1", "rmse", "0.87", ""), ("Rec3, some", "rmse", "0.70", IGNORED)]
    result = replicate(claim(*cells)).judgements
    assert [judgement.verdict for judgement in result] == ["exact", "erratum"]
    assert "0.7071 truncated is 0.70, but the table rounds (1 number can only come" in result[1].why


def test_digits_that_are_cut_off_where_nothing_shows_what_the_table_does(claim):
    result = replicate(
        claim(("Rec3, some", "mae", "0.50", IGNORED), ("Rec3, some", "rmse", "0.70", IGNORED))
    ).judgements
    assert [judgement.verdict for judgement in result] == ["exact", "differs"]
    assert "but 1 informative number of the table cannot show that it truncates" in result[1].why


def test_what_is_not_stated_is_open(claim):
    # errors by user: Rec1 u1 (1, 1, 0), u2 (1): the mean of the users' MAE is (2/3 + 1) / 2; Rec3 u1 (0, 2, 0), u2 (1)
    # the same; Rec2 u1 (3, 1, 1), u2 (1): (5/3 + 1) / 2
    cells = [("Rec1", "mae", "0.8333", ""), ("Rec3", "mae", "0.8333", ""), ("Rec2", "mae", "1.3333", "")]
    result = replicate(claim(*cells)).judgements
    assert {judgement.verdict for judgement in result} == {"underspecified"} and "predict.average = users" in result[
        0
    ].why
    assert all(
        judgement.met == 3 and judgement.chance < 0.05 and 0 < judgement.giving < judgement.settings
        for judgement in result
    )


def test_one_setting_of_many_that_gives_one_number_is_chance(claim):
    result = replicate(claim(("Rec1", "mae", "0.83", ""))).judgements[0]
    assert result.verdict == "differs" and result.giving > 0
    assert "but chance explains it: predict.average = users" in result.why


LISTS = {"u1": (1, 3, 4, 6), "u2": (2, 3, 4, 5), "u3": (1, 2, 5, 7), "u4": (3, 4, 5, 6)}
TRUTH = {"u1": (2, 3), "u2": (1, 2, 3, 5, 7), "u3": (3, 4, 6), "u4": (1, 2, 3, 4, 5, 6)}


@pytest.fixture
def lists(tmp_path):
    ranked = [f"{user},{item},{rank}\n" for user, items in LISTS.items() for rank, item in enumerate(items, 1)]
    (tmp_path / "lists.csv").write_text("user,item,rank\n" + "".join(ranked))
    held_out = [f"{user},{item}\n" for user, items in TRUTH.items() for item in items]
    (tmp_path / "truth.csv").write_text("user,item\n" + "".join(held_out))

    def written(cells):
        text = HEAD + '[[systems]]\nlabel = "lists"\nrun = "lists.csv"\n'
        for metric, user, value in cells:
            text += f'[[cells]]\nsystem = "lists"\nmetric = "{metric}"\nuser = "{user}"\nvalue = "{value}"\n'
        (tmp_path / "claim.toml").write_text(text)
        return tmp_path / "claim.toml"

    return written


def test_the_numbers_of_each_user(lists):
    cells = [
        *(("precision@4", user, value) for user, value in zip(LISTS, ("25%", "75%", "0%", "100%"), strict=True)),
        *(("recall@4", user, value) for user, value in zip(LISTS, ("50%", "60%", "0%", "66.7%"), strict=True)),
        *(("ndcg@4", "u1", "0.39"), ("ndcg@4", "u2", "0.80"), ("precision@4", "", "50%")),
    ]
    assert verdicts(lists(cells)) == ["exact"] * len(cells)


def test_an_impossible_number_of_a_list(lists):
    result = replicate(lists([("precision@4", "u1", "0.33"), ("precision@4", "", "1.2")])).judgements
    assert [judgement.verdict for judgement in result] == ["erratum", "erratum"]
    assert "precision@4 of lists, user u1 is 0.25; not 0.33" in result[0].why
    assert result[1].why == "precision lies between 0 and 1: 1.2 is more"


def test_an_unknown_user_raises_an_error(lists):
    with pytest.raises(ReproError, match="user u9 has no precision@4 in lists"):
        replicate(lists([("precision@4", "u9", "0.3")]))


def test_patterns_of_worked_examples(claim):
    path = claim(("Rec1", "mae", "0.75", ""))
    sides = (
        "left = {{ algorithm = '{0}', metric = 'rmse' }}\nis = '<'\nright = {{ algorithm = '{1}', metric = 'rmse' }}\n"
    )
    pattern = "[[patterns]]\nsays = 'x'\n" + sides
    path.write_text(path.read_text() + pattern.format("Rec1", "Rec3") + pattern.format("Rec2", "Rec[13]"))
    result = replicate(path).judgements[1:]
    assert [judgement.verdict for judgement in result] == ["holds", "does not hold"]
    assert "rmse of Rec1 0.8660 < rmse of Rec3 1.1180" in result[0].why


def test_files_next_to_the_claim(claim):
    from repro.runs.journal import read_journal

    path = claim(("Rec1", "mae", "0.75", ""))
    result = replicate(path)
    journal = read_journal(path.parent / "journal.jsonl")
    assert journal.end.hash == result.journal.rpartition(" ")[2] and journal.events("run.finished")[-1].failed == 0
    assert "Rec1,mae" in (path.parent / "results.csv").read_text()
    again = replicate(path)
    assert again.judgements == result.judgements and again.journal == result.journal
    path.write_text(path.read_text().replace('value = "0.75"', 'value = "0.750"'))
    assert replicate(path).journal != result.journal
