"""Verdicts on a small study, whose right numbers come from a run of its own."""

import math

import pytest

from repro.replications import Budget, Claim, Options, replicate
from repro.replications.replication import seeds_of

CELL = """
[[cells]]
algorithm = "{0}"
metric = "{1}"
value = "{2}"
"""


def cells(*given):
    return "".join(CELL.format(*cell) for cell in given)


def judged(path, **options):
    return replicate(path, budget=Budget(search=60), **options).judgements


def test_right_numbers_are_exact(write, measured):
    table = measured()
    message = [
        (label, metric, f"{table.loc[label, metric]:.4f}") for label in ("Pop", "Bias") for metric in ("ndcg@10",)
    ]
    result = judged(write(cells(*message, ("Bias", "rmse", f"{table.loc['Bias', 'rmse']:.3f}"))))
    assert [judgement.verdict for judgement in result] == ["exact"] * 3
    assert [judgement.value for judgement in result[:2]] == table["ndcg@10"].tolist()


def test_a_wrong_number_differs_with_the_nearest_protocol(write, measured):
    # the numbers of another protocol: all items may be in a list, those of training too
    other = measured(candidates__exclude_train="none")["ndcg@10"]
    result = replicate(
        write(cells(("Pop", "ndcg@10", f"{other['Pop']:.4f}"), ("Bias", "ndcg@10", f"{other['Bias']:.4f}"))),
        budget=Budget(search=200),
    )
    assert {judgement.verdict for judgement in result.judgements} == {"differs"}
    assert result.searches[0].fitting >= 1 and result.searches[0].off[1] < result.searches[0].off[0]
    assert "candidates.exclude_train = none" in result.searches[0].sentence
    assert "(the claim has all)" in result.judgements[0].why
    assert [row[0] for row in result.searches[0].rows] == ["Pop", "Bias"]


def test_a_number_out_of_range_is_an_erratum(write):
    result = judged(write(cells(("Pop", "ndcg@10", "1.2"), ("Bias", "rmse", "-0.1"))))
    assert [judgement.verdict for judgement in result] == ["erratum", "erratum"]
    assert result[0].why == "ndcg lies between 0 and 1: 1.2 is more"
    assert result[1].why == "rmse is at least 0: -0.1 is less"


def test_numbers_at_odds_are_errata(write, measured):
    table = measured()
    right = f"{table.loc['Bias', 'mae']:.3f}"
    result = judged(write(cells(("Bias", "mae", right), ("Bias", "rmse", "0.100"), ("Pop", "hit@10", "0.010"))))
    assert [judgement.verdict for judgement in result][:2] == ["exact", "erratum"]
    assert f"rmse (0.100) is below mae ({right})" in result[1].why and "at least one" not in result[1].why


def test_hits_below_precision_are_errata_of_one_of_them(write):
    result = judged(write(cells(("Pop", "hit@10", "0.11"), ("Pop", "precision@10", "0.21"))))
    assert [judgement.verdict for judgement in result] == ["erratum", "erratum"]
    assert "a list with a hit in its first 10 items counts 1" in result[0].why
    assert result[0].why.endswith("at least one of these is wrong")


def test_more_than_a_perfect_ranking_reaches_is_an_erratum(write, ratings):
    # With two folds a user has about ten held-out ratings, few of them relevant: precision@10 cannot be 0.9.
    result = judged(write(cells(("Pop", "precision@10", "0.90"))))[0]
    assert result.verdict == "erratum" and "with all relevant items at the top, precision@10 is" in result.why


def test_less_than_the_worst_ranking_leaves_is_an_erratum(write):
    # Only the user's own test items are ranked: about ten, of which several are relevant, whatever the order.
    base = write(cells(("Pop", "precision@10", "0.001"))).read_text()
    path = write("", base.replace("split.folds = 2", 'split.folds = 2\ncandidates.base = "user-test-items"'))
    result = judged(path)[0]
    assert result.verdict == "erratum" and "with all relevant items at the end" in result.why


def test_what_is_open_is_tried_and_the_right_setting_found(write, measured):
    right = measured(relevance__threshold=3.0, ties__break="item-desc")
    path = write(cells(*((label, "ndcg@10", f"{right.loc[label, 'ndcg@10']:.5f}") for label in ("Pop", "Bias"))))
    opened = 'split.folds = 2\nopen = ["relevance.threshold=3|4|5", "ties.break=item-asc|item-desc"]'
    path.write_text(path.read_text().replace("split.folds = 2", opened))
    result = judged(path)
    assert [judgement.verdict for judgement in result] == ["underspecified", "underspecified"]
    assert all(judgement.settings == 6 for judgement in result)
    # Bias has no ties, so both orders give its number; popularity has some.
    assert "relevance.threshold = 3.0" in result[0].why and "ties.break = item-desc" in result[0].why
    assert result[0].giving == 1 and result[1].giving in (1, 2)
    assert "which gives 2 of the 2 numbers that the claim's own setting does not give" in result[0].why
    assert result[0].why.endswith("1 of 6 settings of the open decisions give it")


def test_what_needs_another_fit_is_run_on_its_own(write, measured):
    right = measured(split__folds=3)
    path = write(cells(("Bias", "rmse", f"{right.loc['Bias', 'rmse']:.5f}")))
    path.write_text(
        path.read_text().replace("split.folds = 2", 'open = ["split.folds=2|3"]').replace("split.folds = 2", "")
    )
    claim = Claim.load(path)
    assert claim.settings[""].protocol["split.folds"] == 5
    result = judged(path)[0]
    assert result.verdict == "underspecified" and result.settings == 3 and result.giving == 1
    assert "split.folds = 3" in result.why


def test_decisions_of_one_cell_alone(write, measured):
    right = measured(ties__break="expected", relevance__threshold=5.0).loc["Pop", "precision@10"]
    path = write(
        f'[[cells]]\nalgorithm = "Pop"\nmetric = "precision@10"\nvalue = "{right:.6f}"\n'
        'set = { "ties.break" = "expected", "relevance.threshold" = 5 }\n'
    )
    result = judged(path)
    assert [judgement.verdict for judgement in result] == ["exact"] and result[0].value == right
    assert len(list((path.parent / "run").iterdir())) == 1


def test_seeds_spread_and_the_verdict_uses_it(write, measured):
    values = [measured(seed=seed).loc["Bias", "rmse"] for seed in (7, 8, 9)]
    path = write(cells(("Bias", "rmse", f"{sum(values) / 3:.5f}"), ("Bias", "mae", "0.00100")))
    path.write_text(path.read_text().replace("seeds = [7]", "seeds = [7, 8, 9]") + '[tolerance]\nkind = "seeds"\n')
    result = judged(path)
    assert [judgement.verdict for judgement in result] == ["within", "differs"]
    assert list(result[0].values) == values and result[0].spread == (min(values), max(values))
    assert "95% prediction interval of 3 seeds" in result[0].why and "over 3 seeds" in result[1].why


def test_more_seeds_can_be_requested(write):
    claim = Claim.load(write(cells(("Bias", "rmse", "0.9"))))
    assert seeds_of(claim, None) == (7,) and seeds_of(claim, 3) == (7, 8, 9) and seeds_of(claim, 1) == (7,)


def test_a_finished_run_is_kept_and_a_fresh_one_made(write, measured):
    path = write(cells(("Bias", "rmse", f"{measured().loc['Bias', 'rmse']:.3f}")))
    first = replicate(path).journal
    assert replicate(path).journal == first
    assert replicate(path, options=Options(fresh=True)).journal != first


def test_a_run_that_was_cut_off_goes_on(write, measured):
    path = write(cells(("Bias", "rmse", f"{measured().loc['Bias', 'rmse']:.3f}")))
    journal = next(replicate(path) and (path.parent / "run").rglob("journal.jsonl"))
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-5]))
    (journal.parent / "results.parquet").unlink()
    assert [judgement.verdict for judgement in judged(path)] == ["exact"]
    assert b"run.resumed" in journal.read_bytes()


def test_missing_data_is_not_a_failure(write, monkeypatch):
    from repro.errors import DataError
    from repro.replications.claims import claim

    def nowhere(*args, **options):
        raise DataError("no source of ml-1m answers")

    monkeypatch.setattr(claim, "load_dataset", nowhere)
    path = write(cells(("Pop", "ndcg@10", "0.1")) + '[[facts]]\nname = "users"\nvalue = "6,040"\n')
    path.write_text(path.read_text().replace("ratings.csv", "ml-1m"))
    result = replicate(path)
    assert result.summary == "2 not run"
    assert (
        "`repro data get ml-1m`" in result.judgements[0].why
        and "no source of ml-1m answers" in result.judgements[0].why
    )


def test_a_framework_that_is_missing_is_no_failure_either(write, measured, monkeypatch):
    from repro.plugin import Plugins

    location = Plugins.location
    monkeypatch.setattr(
        Plugins, "location", lambda self, name: "missing" if name == "implicit" else location(self, name)
    )
    right = f"{measured().loc['Pop', 'ndcg@10']:.4f}"
    more = '[[algorithms]]\nuse = "implicit/bpr"\nlabel = "BPR"\n'
    result = judged(write(more + cells(("Pop", "ndcg@10", right), ("BPR", "ndcg@10", "0.1"))))
    assert [judgement.verdict for judgement in result] == ["exact", "not run"]
    assert "repro plugins install implicit" in result[1].why


def test_installed_versions_are_named_where_they_differ(write, measured, monkeypatch):
    """The pinned versions are taken for an older run of the same, with another number in one place."""
    from dataclasses import replace

    from repro.replications import replicate as package

    module = __import__("sys").modules[package.__module__]
    judged_here = module._Judged

    class Judged(judged_here):
        def __init__(self, claim, options, seeds):
            self.newer = options.installed
            super().__init__(claim, replace(options, installed=True), seeds)

        def replication(self):
            result = super().replication()
            versions = {"surprise": "1.1.5" if self.newer else "1.1.4"}
            old = replace(result.judgements[0], values=(result.judgements[0].value + 0.01,))
            judged = result.judgements if self.newer else (old, *result.judgements[1:])
            return replace(result, judgements=judged, versions=versions)

    monkeypatch.setattr(module, "_Judged", Judged)
    right = measured().loc["Pop", "ndcg@10"]
    more = '[frameworks]\nsurprise = ["scikit-surprise==1.1.4"]\n'
    result = replicate(write(more + cells(("Pop", "ndcg@10", f"{right:.4f}"), ("Bias", "ndcg@10", "1.5"))), newer=True)
    assert [judgement.newer for judgement in result.judgements] == [right, None]
    assert "surprise 1.1.5 in place of 1.1.4, 1 of 2 are another number" in result.notes[-1]


def test_files_written_next_to_the_claim(write, measured):
    import json

    import pandas as pd

    path = write(cells(("Pop", "ndcg@10", f"{measured().loc['Pop', 'ndcg@10']:.4f}"), ("Pop", "hit@10", "1.5")))
    result = replicate(path)
    table = pd.read_csv(path.parent / "verdicts.csv")
    assert table["verdict"].tolist() == ["exact", "erratum"] and table["printed"].tolist()[1] == 1.5
    plain = json.loads((path.parent / "verdicts.json").read_text())
    assert plain["counts"] == {"exact": 1, "erratum": 1} and plain["journal"] == result.journal
    assert (path.parent / "results.csv").is_file() and "A tiny table" in plain["title"]


def test_rows_come_in_the_order_of_the_splitter(folder):
    """Surprise shuffles rows before it makes folds, and fits them so: SVD as its own cross-validation has it."""
    surprise = pytest.importorskip("surprise")
    import pandas as pd
    from surprise.model_selection import KFold, cross_validate

    from repro import Study
    from repro.protocol import Protocol

    frame = pd.read_csv(folder / "ratings.csv")
    scale = (float(frame.rating.min()), float(frame.rating.max()))
    data = surprise.Dataset.load_from_df(frame[["user", "item", "rating"]], surprise.Reader(rating_scale=scale))
    direct = cross_validate(surprise.SVD(random_state=3), data, ["rmse"], KFold(3, random_state=3))["test_rmse"]
    changes = {"split.strategy": "surprise/KFold", "split.surprise-KFold.n_splits": 3, "data.order": "splitter"}
    protocol = Protocol.load("random-5fold").replace({**changes, "predict.clip": "scale"})
    entry = {"use": "surprise/SVD", "seed": "study"}
    own = Study(folder / "ratings.csv", protocol, [entry], ["rmse"], seed=3).run().table().iloc[0, 0]
    assert own == pytest.approx(direct.mean(), abs=1e-12)


def test_a_hit_rate_between_two_steps_is_an_erratum(write, ratings, folder):
    """Users with a relevant test item are counted in each fold; another number shows that the lists are the same."""
    from repro import Study
    from repro.protocol import Protocol

    protocol = Protocol.load("random-5fold", split__folds=2)
    long = (
        Study(folder / "ratings.csv", protocol, ["reference/popularity"], ["hit@10", "ndcg@10"], seed=7).run().results
    )
    of = {name: long[long["measure"].str.startswith(name)] for name in ("hit", "ndcg")}
    folds = of["hit"][of["hit"]["fold"] != "all"]
    step = 1 / (2 * math.lcm(*folds["users"].astype(int)))
    hit, ndcg = (of[name][of[name]["fold"] == "all"]["value"].item() for name in ("hit", "ndcg"))
    wrong, right = f"{hit + step / 2:.8f}", f"{ndcg:.8f}"
    alone = judged(write(cells(("Pop", "hit@10", wrong))))[0]
    assert alone.verdict == "differs"  # the split is random: the source may have had other users
    result = judged(write(cells(("Pop", "hit@10", wrong), ("Pop", "ndcg@10", right))))
    assert [judgement.verdict for judgement in result] == ["erratum", "exact"]
    assert "hit@10 over" in result[0].why and "is a multiple of 1/" in result[0].why
    possible = judged(write(cells(("Pop", "hit@10", f"{hit + step:.8f}"), ("Pop", "ndcg@10", right))))[0]
    assert possible.verdict == "differs"


def test_what_cannot_be_is_found_whatever_is_open(write):
    opened = 'split.folds = 2\nopen = ["relevance.threshold=3|4|5", "ties.break", "average.no_relevant=skip|zero"]'
    path = write(cells(("Pop", "precision@10", "0.98"), ("Pop", "ndcg@10", "1.2"), ("Bias", "rmse", "-0.1")))
    path.write_text(path.read_text().replace("split.folds = 2", opened))
    result = judged(path)
    assert [judgement.verdict for judgement in result] == ["erratum"] * 3
    assert "with all relevant items at the top" in result[0].why and result[1].why.startswith(
        "ndcg lies between 0 and 1"
    )


def test_numbers_at_odds_under_every_setting_are_errata(write):
    path = write(cells(("Pop", "hit@10", "0.11"), ("Pop", "precision@10", "0.21")))
    path.write_text(
        path.read_text().replace("split.folds = 2", 'split.folds = 2\nopen = ["average.over", "average.no_relevant"]')
    )
    assert [judgement.verdict for judgement in judged(path)] == ["erratum", "erratum"]
