"""Printed spreads, means over protocols, several data sets, figures of splits and times in a claim."""

import math
import re

import numpy as np
import pandas as pd
import pytest

import repro
from repro import Claim, replicate
from repro.errors import StudyError
from repro.replications.claims.printed import read_printed
from repro.replications.verdicts.spreads import sentence, spreads_of

NO_SEARCH = repro.replications.Budget(settings=0, refits=0, search=0)


def judged(path, **options):
    return replicate(Claim.load(path), progress=False, budget=NO_SEARCH, **options)


FORMS = (
    *("0.400 ± 0.002", "0.400±0.002", "0.400 +- 0.002", "0.400 +/- 0.002"),
    *(r"$0.400 \pm 0.002$", r"0.400\pm0.002", "0.400 (0.002)", "0.400(.002)"),
)


@pytest.mark.parametrize("text", FORMS)
def test_forms_of_a_number_with_its_spread(text):
    printed = read_printed(text)
    assert (printed.value, printed.decimals) == (0.4, 3)
    assert (printed.spread.value, printed.spread.decimals) == (0.002, 3)
    assert printed.text == text


def test_a_percentage_has_its_spread_in_per_cent():
    for text in ("12.3% ± 0.4%", "12.3 ± 0.4%", "12.3% ± 0.4"):
        printed = read_printed(text)
        assert (printed.value, printed.spread.value) == (0.123, 0.004)
        assert (printed.decimals, printed.spread.decimals) == (3, 3)


@pytest.mark.parametrize("text", ["0.400 (2)", "0.4 ± x", "± 0.002", "0.4 ± 0.1 ± 0.2"])
def test_what_is_no_spread_is_refused(text):
    with pytest.raises(StudyError, match="is not a number"):
        read_printed(text)


def test_what_a_spread_agrees_with():
    """Of 1, 2, 3 and 4: deviations 1.29099 (n - 1) and 1.11803 (n), standard error 0.6455, interval 1.96 times it."""
    values = [1.0, 2.0, 3.0, 4.0]
    by_name = {spread.name: spread for spread in spreads_of(read_printed("1.118"), (), values)}
    assert {name: round(spread.value, 5) for name, spread in by_name.items()} == {
        "standard deviation (n - 1) over 4 folds": 1.29099,
        "standard deviation (n) over 4 folds": 1.11803,
        "standard error over 4 folds": 0.6455,
        "95% interval over 4 folds": 1.26517,
    }
    assert [name for name, spread in by_name.items() if spread.holds] == ["standard deviation (n) over 4 folds"]
    printed = read_printed("1.118")
    assert sentence(printed, tuple(by_name.values())).startswith("± 1.118 agrees with: standard deviation (n) over 4")
    assert "agrees with none of" in sentence(read_printed("7.5"), spreads_of(read_printed("7.5"), values, ()))
    assert "add seeds" in sentence(printed, spreads_of(printed, [1.0], [math.nan, 2.0]))


def folds_of(data, metric, seed=7):
    study = repro.Study(data, "random-5fold", ["reference/popularity"], [metric], seed=seed)
    study.protocol = study.protocol.replace({"split.folds": 2})
    table = study.run().results
    return table[table["fold"] != "all"]["value"].tolist()


def test_a_spread_over_folds_and_one_over_seeds(write, folder, measured):
    values = folds_of(folder / "ratings.csv", "ndcg@10")
    of_folds = float(np.std(values, ddof=1))
    seeds = [measured(seed)["ndcg@10"]["Pop"] for seed in (7, 8, 9)]
    mean, of_seeds = float(np.mean(seeds)), float(np.std(seeds, ddof=1))
    more = f"""
[table]
metrics = ["ndcg@10"]
Pop = ["{measured()["ndcg@10"]["Pop"]:.6f} ± {of_folds:.6f}"]
[[cells]]
algorithm = "Pop"
metric = "ndcg@10"
set = {{ "ties.break" = "item-asc" }}
tolerance = {{ seeds = [7, 8, 9] }}
value = "{mean:.6f} ({of_seeds:.6f})"
"""
    first, second = judged(write(more)).judgements
    assert first.verdict == "exact"
    assert [spread.name for spread in first.spreads if spread.holds] == ["standard deviation (n - 1) over 2 folds"]
    assert second.verdict == "exact" and second.why.startswith("the mean over 3 seeds; ")
    assert "agrees with: standard deviation (n - 1) over 3 seeds" in second.why


def test_a_number_within_its_printed_spread(write, measured):
    value = measured()["ndcg@10"]["Pop"]
    more = f'[table]\nmetrics = ["ndcg@10"]\nPop = ["{value + 0.01:.4f} ± 0.02"]\n'
    (judgement,) = judged(write(more)).judgements
    assert judgement.verdict == "within" and "within the printed spread, ± 0.02" in judgement.why
    more = f'[table]\nmetrics = ["ndcg@10"]\nPop = ["{value + 0.1:.4f} ± 0.02"]\n'
    assert judged(write(more)).judgements[0].verdict == "differs"


SECOND = '[protocols.three]\nbase = "random-5fold"\nsplit.folds = 3\n'


def test_a_mean_over_protocols(write, measured):
    numbers = [measured()["rmse"], measured(split__folds=3)["rmse"]]
    of_bias = sum(number["Bias"] for number in numbers) / 2
    more = f"""
{SECOND}
[table]
metrics = ["rmse"]
under = ["", "three"]
Bias = ["{of_bias:.5f}"]
[[cells]]
algorithm = "Bias"
metric = "rmse"
under = "three"
value = "{numbers[1]["Bias"]:.5f}"
"""
    alone, mean = judged(write(more)).judgements
    assert (alone.verdict, alone.under) == ("exact", "three")
    assert (mean.verdict, mean.under) == ("exact", " + three")
    assert mean.value == pytest.approx(of_bias, abs=1e-12)
    assert re.search(r"the mean of \d.\d{6} \(protocol\), \d.\d{6} \(three\)", mean.why)


def test_a_mean_over_an_unknown_protocol_or_over_one_is_refused(write):
    table = '[table]\nmetrics = ["rmse"]\nunder = {}\nBias = ["1.0"]\n'
    with pytest.raises(StudyError, match="there is no protocol 'four'"):
        Claim.load(write(SECOND + table.format('["three", "four"]')))
    with pytest.raises(StudyError, match="must be a name, or a list of names"):
        Claim.load(write(SECOND + table.format('["three"]')))


def test_several_data_sets(write, folder, ratings, measured):
    half = ratings.to_frame().iloc[::2]
    half.to_csv(folder / "half.csv", index=False)
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    study = repro.Study(
        folder / "half.csv", protocol, [{"use": "reference/popularity", "label": "Pop"}], ["ndcg@10"], seed=7
    )
    on_half = study.run().table()["ndcg@10"]["Pop"]
    more = f"""
[datasets.half]
name = "half.csv"
[[table]]
metrics = ["ndcg@10"]
Pop = ["{measured()["ndcg@10"]["Pop"]:.6f}"]
[[table]]
metrics = ["ndcg@10"]
data = "half"
Pop = ["{on_half:.6f}"]
[[facts]]
name = "ratings"
value = "{len(half)}"
data = "half"
[[facts]]
name = "ratings"
value = "{len(ratings)}"
"""
    path = write(more)
    result = judged(path)
    assert [(judgement.data, judgement.what, judgement.verdict) for judgement in result.judgements] == [
        ("", "cell", "exact"),
        ("", "fact", "exact"),
        ("half", "cell", "exact"),
        ("half", "fact", "exact"),
    ]
    written = pd.read_csv(folder / "verdicts.csv", keep_default_na=False)
    assert written["data"].tolist() == ["", "", "half", "half"]
    assert any("half.csv" in message for message in [*Claim.load(path).check().missing, "half.csv"])
    (folder / "half.csv").unlink()
    verdicts = [judgement.verdict for judgement in judged(path).judgements]
    assert verdicts == ["exact", "exact", "not run", "not run"]
    with pytest.raises(StudyError, match="there is no data set 'halves'; did you mean 'half'"):
        Claim.load(write(more.replace('data = "half"\nPop', 'data = "halves"\nPop')))


def test_figures_of_a_split(write, ratings):
    split = repro.Study(
        ratings, repro.Protocol.load("random-5fold", split__folds=2), "reference/popularity", "rmse", seed=7
    )
    folds = repro.study.make_plan(split).split.folds
    test = [ratings.select(np.sort(fold.test)) for fold in folds]
    first = test[0]
    more = f"""
[[facts]]
name = "test ratings"
value = "{np.mean([len(part) for part in test]):.1f}"
[[facts]]
name = "test users"
fold = "1"
value = "{len(np.unique(first.users))}"
[[facts]]
name = "test density"
fold = "1"
value = "{len(first) / len(np.unique(first.users)) / len(np.unique(first.items)):.6f}"
[[facts]]
name = "train ratings"
fold = "1"
value = "{len(ratings) - len(first) + 1}"
"""
    verdicts = [judgement.verdict for judgement in judged(write(more)).judgements]
    assert verdicts == ["exact", "exact", "exact", "differs"]
    with pytest.raises(StudyError, match="there is no fold '9'; the folds are 1, 2"):
        judged(write('[[facts]]\nname = "test ratings"\nfold = "9"\nvalue = "3"\n'))
    with pytest.raises(StudyError, match="needs a validation part"):
        judged(write('[[facts]]\nname = "validation ratings"\nvalue = "3"\n'))


def test_times_are_judged_up_to_a_factor(write, measured):
    table = f'[table]\nmetrics = ["ndcg@10"]\nPop = ["{measured()["ndcg@10"]["Pop"]:.4f}"]\n'
    fact = '[[facts]]\nname = "fit seconds"\nalgorithm = "{}"\nvalue = "{}"\nfactor = {}\n'
    facts = fact.format("Pop", "0.001", 1e9) + fact.format("Pop", "1e9", 2) + fact.format("Bias", "1", 3)
    _, near, far, unclaimed = judged(write(table + facts)).judgements
    assert (near.verdict, far.verdict, unclaimed.verdict) == ("within", "differs", "not run")
    assert "times the printed time, where a factor of 2 is allowed" in far.why
    with pytest.raises(StudyError, match="a factor of at least 1"):
        Claim.load(write(table + '[[facts]]\nname = "fit seconds"\nalgorithm = "Pop"\nvalue = "1"\n'))
    with pytest.raises(StudyError, match="a factor of at least 1"):
        Claim.load(write(table + '[[facts]]\nname = "users"\nvalue = "1"\nfactor = 3\n'))
