"""Figures of data, and claims about two numbers."""

import numpy as np
import pandas as pd
import pytest

from repro.data import load_dataset
from repro.errors import ReproError
from repro.replications import replicate

HEAD = """
title = "Figures"
source = "a table of data sets"
[data]
name = "small.csv"
"""
# Four items with 4, 3, 2 and 1 ratings by four users: |T| and eta by hand below.
ROWS = [(user, item) for item, users in (("a", 4), ("b", 3), ("c", 2), ("d", 1)) for user in range(users)]
UNIFORM = """
[protocol]
base = "bellogin-u1r"
split.test_ratio = {0}
split.train_floor = {1}
"""


@pytest.fixture
def small(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["user", "item"]).assign(rating=np.arange(10) % 5 + 1)
    frame.to_csv(tmp_path / "small.csv", index=False)

    def judged(facts, more=""):
        text = "".join(f'[[facts]]\nname = "{name}"\nvalue = "{value}"\n' for name, value in facts)
        (tmp_path / "claim.toml").write_text(HEAD + more + text)
        return replicate(tmp_path / "claim.toml").judgements

    return judged


def test_figures_of_a_data_set(small):
    # density 10 / 16; Gini of (1, 2, 3, 4): sum of (2i - 5) x_i = -3 - 2 + 3 + 12 = 10, over 4 * 10
    facts = [("users", "4"), ("items", "4"), ("ratings", "10"), ("density", "62.5%"), ("gini", "0.25")]
    result = small([*facts, ("mean rating", "3.0"), ("users", "5"), ("density", "0.6250")])
    assert [judgement.verdict for judgement in result] == ["exact"] * 6 + ["differs", "exact"]
    assert result[6].value == 4.0


def test_a_figure_that_the_data_of_the_stated_digest_does_not_have_is_an_erratum(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["user", "item"]).assign(rating=1)
    frame.to_csv(tmp_path / "small.csv", index=False)
    digest = load_dataset(str(tmp_path / "small.csv")).digest
    facts = '[[facts]]\nname = "users"\nvalue = "5"\n[[facts]]\nname = "items"\nvalue = "4"\n'
    (tmp_path / "claim.toml").write_text(f'{HEAD}digest = "{digest}"\n{facts}')
    result = replicate(tmp_path / "claim.toml").judgements
    assert [judgement.verdict for judgement in result] == ["erratum", "exact"]
    assert "the data of the stated digest has 4" in result[0].why


def test_target_items_and_how_many_test_ratings_each_gives(small):
    # sigma = 0.2, epsilon = 0.2: 0.8 r(i_k) k / 10 is 0.32, 0.48, 0.48, 0.32 for k = 1..4, all at least 0.2: |T| = 4;
    # sigma r / |T| = 2 / 4 = 0.5. With sigma = 0.4: k = 2 and 3 do, |T| = 3, and 4 / 3 = 1.33 ratings each.
    assert [judgement.verdict for judgement in small([("target items", "4")], UNIFORM.format(0.2, 0.2))] == ["exact"]
    result = small([("target items", "3"), ("eta", "1"), ("eta", "1.33")], UNIFORM.format(0.4, 0.2))
    assert [judgement.verdict for judgement in result] == ["exact", "exact", "exact"]


def test_more_test_ratings_than_there_are_is_an_erratum(small):
    # sigma = 0.5, epsilon = 0.1: 0.9 r(i_k) k / 10 is 0.54 for k = 2 and 3, so that |T| = 3, and 5 / 3 = 1.67.
    result = small([("eta", "3")], UNIFORM.format(0.5, 0.1))[0]
    assert result.verdict == "erratum"
    assert "3 x 3 = 9 is more than 0.5 x 10 = 5.0" in result.why and "allows 1" in result.why


def test_test_ratings_of_each_item_may_be_those_that_the_least_popular_one_can_give(small):
    # As above; (1 - 0.1) r(i_3) = 0.9 x 2 = 1.8, which rounds to 2.
    result = small([("eta", "2"), ("eta", "1.8"), ("eta", "1.67")], UNIFORM.format(0.5, 0.1))
    assert [judgement.verdict for judgement in result] == ["exact", "exact", "exact"]
    assert "(1 - epsilon) r(i_zeta) = 1.80 of the least popular target item" in result[0].why


def test_a_figure_of_a_protocol_needs_one(small):
    with pytest.raises(ReproError, match="'eta' depends on a protocol"):
        small([("eta", "2")])


PATTERN = """
[[patterns]]
says = "{says}"
left = {left}
is = "{relation}"
right = {right}
"""
POP, BIAS = '{ algorithm = "Pop", metric = "hit@10" }', '{ algorithm = "Bias", metric = "hit@10" }'


def pattern(left, relation, right, says="one is the better", more=""):
    return PATTERN.format(says=says, left=left, relation=relation, right=right) + more


def test_patterns_hold_or_do_not(write, measured):
    hits = measured()["hit@10"]
    better, worse = (POP, BIAS) if hits["Pop"] > hits["Bias"] else (BIAS, POP)
    result = replicate(
        write(pattern(better, ">", worse) + pattern(better, "<=", worse, "the other way round"))
    ).judgements
    assert [judgement.verdict for judgement in result] == ["holds", "does not hold"]
    assert f"hit@10 of Pop {hits['Pop']:.4f}" in result[0].why and f"hit@10 of Bias {hits['Bias']:.4f}" in result[0].why


def test_about_is_a_difference_or_a_share(write, measured):
    value = measured().loc["Pop", "hit@10"]
    near = [
        pattern(POP, "about", value + 0.009, more="within = 0.01"),
        pattern(POP, "about", value + 0.011, more="within = 0.01"),
        pattern(POP, "about", value / 0.91, more='within = "10%"'),
        pattern(POP, "about", value / 0.89, more='within = "10%"'),
    ]
    verdicts = [judgement.verdict for judgement in replicate(write("\n".join(near))).judgements]
    assert verdicts == ["holds", "does not hold", "holds", "does not hold"]


def test_other_protocols_several_algorithms_and_factors(write, measured):
    strict = measured(relevance__threshold=5.0)["precision@10"]
    loose = measured(relevance__threshold=2.0)["precision@10"]
    assert strict.max() < 0.9 * loose.max()
    protocols = '[protocols.loose]\nbase = "random-5fold"\nsplit.folds = 2\nrelevance.threshold = 2\n'
    left = '{ algorithm = "*", metric = "precision@10", set = { "relevance.threshold" = 5 } }'
    right = '{ algorithm = ["Pop", "Bias"], metric = "precision@10", under = "loose", take = "max", times = 0.9 }'
    result = replicate(write(protocols + pattern(left, "<", right))).judgements[0]
    assert result.verdict == "holds"
    assert "0.9 x max of precision@10 over 2 algorithms under loose" in result.why


def test_a_pattern_must_hold_with_every_seed(write, measured):
    values = [measured(seed=seed).loc["Pop", "ndcg@10"] for seed in (7, 8, 9)]
    between = sorted(values)[1]
    path = write(pattern('{ algorithm = "Pop", metric = "ndcg@10" }', "<", between))
    path.write_text(path.read_text().replace("seeds = [7]", "seeds = [7, 8, 9]"))
    result = replicate(path).judgements[0]
    assert result.verdict == "does not hold" and "with 1 of 3 seeds" in result.why


def test_discriminative_power(write, monkeypatch):
    """With two systems DP is the p-value of their one pair: the same that the metric study has."""
    from repro.metric_study import Settings, study_metrics
    from repro.replications.verdicts import metric_properties

    monkeypatch.setattr(metric_properties, "RANDOMISATIONS", 500)
    path = write(pattern('{ dp = "ndcg@10" }', "<=", 1.0) + pattern('{ dp = "hit@10" }', ">", -1))
    result = replicate(path).judgements
    assert [judgement.verdict for judgement in result] == ["holds", "holds"]
    folder = next((path.parent / "run").iterdir())
    table = study_metrics(folder, Settings(metrics=("ndcg",), cutoffs=(10,), samples=1, randomisations=500)).dp
    assert f"discriminative power of ndcg@10 {table['dp'].iloc[0]:.4f}" in result[0].why


MORE_ALGORITHMS = "".join(
    f'[[algorithms]]\nuse = "reference/{name}"\nlabel = "{name}"\n' for name in ("random", "item-mean", "item-knn")
)


def test_agreement_and_robustness_of_the_order_by_a_metric(write, monkeypatch):
    """The agreement is that of scipy on the measured numbers; the robustness is what the metric study has."""
    from scipy.stats import kendalltau

    from repro.metric_study import Settings, study_metrics
    from repro.replications.verdicts import metric_properties
    from repro.runs.run import Run

    monkeypatch.setattr(metric_properties, "SAMPLES", 2)
    sides = (
        '{ tau = ["precision@3", "ndcg@10"] }',
        '{ sparsity = "ndcg@10", share = 0.5 }',
        '{ popularity = "ndcg@10", share = 0.2 }',
    )
    path = write(MORE_ALGORITHMS + "".join(pattern(side, "<=", 1.0) for side in sides))
    result = replicate(path).judgements
    assert [judgement.verdict for judgement in result] == ["holds", "holds", "holds"]
    folder = next((path.parent / "run").iterdir())
    table = Run(folder).results
    numbers = table[table["fold"] == "all"].pivot(index="algorithm", columns="metric", values="value")
    expected = kendalltau(numbers["precision@3"], numbers["ndcg@10"]).statistic
    assert len(numbers) == 5 and f"tau of precision@3 with ndcg@10 {expected:.4f}" in result[0].why
    study = study_metrics(folder, Settings(metrics=("ndcg",), cutoffs=(10,), samples=2, randomisations=10))
    for table, share, judgement in ((study.sparsity, 0.5, result[1]), (study.popularity, 0.2, result[2])):
        assert f" {table.loc[table['share'] == share, 'tau'].iloc[0]:.4f} <=" in judgement.why


@pytest.mark.parametrize(
    ("side", "problem"),
    [
        ('{ tau = "ndcg@10" }', "tau is a list of two metrics"),
        ('{ tau = ["ndcg@10", "ndcg"] }', "needs a metric with its cut-off; it is 'ndcg'"),
        ('{ sparsity = "ndcg@10" }', "have a share between 0 and 1"),
        ('{ popularity = "ndcg@10", share = 2.0 }', "have a share between 0 and 1"),
        ('{ dp = "ndcg@10", share = 0.5 }', "have a share between 0 and 1"),
        ('{ dp = "ndcg@10", tau = ["ndcg@5", "ndcg@10"] }', "or one of dp, tau, sparsity, popularity"),
    ],
)
def test_a_property_of_a_metric_that_is_incomplete_is_rejected(write, side, problem):
    with pytest.raises(ReproError, match=problem):
        replicate(write(pattern(side, "<", 1.0)))
