"""The verdicts by the claim's own setting come first; the search can be left out, cut off and taken up again."""

import json

import pytest

from repro.replications import Budget, Options, replicate
from repro.replications.settings.watch import SearchStopped, SearchWatch
from repro.runs.journal import read_journal

TABLE = '[table]\nmetrics = ["ndcg@10", "precision@10", "hit@10"]\nPop = {}\nBias = {}\n'
OPEN_THRESHOLD = 'split.folds = 2\nopen = ["relevance.threshold=2|3|4|5"]'
OPENED = ("split.folds = 2", 'split.folds = 2\nopen = ["data.user_core=0|5"]')


def table(measured, **changes):
    numbers = measured(**changes)[["ndcg@10", "precision@10", "hit@10"]]
    rows = [[f"{value:.5f}" for value in numbers.loc[label]] for label in ("Pop", "Bias")]
    return TABLE.format(*rows).replace("'", '"')


@pytest.fixture
def claim(write, measured):
    """A claim whose numbers come from training items in the lists, with decisions open that need other fits."""
    path = write(table(measured, candidates__exclude_train="none"))
    path.write_text(path.read_text().replace(*OPENED))
    return path


def stored(path):
    return [verdict["verdict"] for verdict in json.loads((path.parent / "verdicts.json").read_text())["verdicts"]]


def fits(path):
    journals = (read_journal(folder / "journal.jsonl") for folder in (path.parent / "run").iterdir())
    return sum(len(journal.events("cell.finished")) for journal in journals)


def test_verdicts_are_known_and_written_before_the_search(claim):
    heard = []
    options = Options(
        known=lambda judgement: heard.append(("known", judgement.verdict)),
        own=lambda replication: heard.append(("written", stored(claim))),
        say=lambda line: heard.append(("search", line)),
    )
    result = replicate(claim, options=options, budget=Budget(search=5))
    kinds = [kind for kind, _ in heard]
    assert kinds[:7] == ["known"] * 6 + ["written"] and set(kinds[7:]) == {"search"}
    assert heard[6][1] == ["differs"] * 6
    assert heard[7][1].startswith("search for what explains 6 numbers: 2 further fits, about ")
    assert sum("search: fit " in line for _, line in heard[7:]) == 2
    assert stored(claim) == [judgement.verdict for judgement in result.judgements] == ["mistake"] * 6


def test_without_a_search_nothing_more_is_fitted(claim):
    said = []
    result = replicate(claim, options=Options(say=said.append), budget=Budget(off=True))
    assert {judgement.verdict for judgement in result.judgements} == {"differs"} and said == []
    assert fits(claim) == 2 * 2  # two algorithms, two folds


@pytest.mark.parametrize("stop", ["time", "interrupt"])
def test_a_search_that_is_cut_off_keeps_verdicts_and_goes_on_later(claim, stop):
    said = []

    def say(line):
        said.append(line)
        if stop == "interrupt" and "fit 1 of" in line:
            raise KeyboardInterrupt

    result = replicate(
        claim, options=Options(say=say), budget=Budget(search=5, seconds=1e-9 if stop == "time" else None)
    )
    assert stored(claim) == [judgement.verdict for judgement in result.judgements] == ["differs"] * 6
    assert "Replicate again to go on" in result.notes[-1]
    assert ("its time was up" in result.notes[-1]) == (stop == "time")
    before = fits(claim)
    again = replicate(claim, budget=Budget(search=5))
    assert {judgement.verdict for judgement in again.judgements} == {"mistake"}
    complete = fits(claim)
    assert before < complete
    replicate(claim, budget=Budget(search=5))
    assert fits(claim) == complete


def test_a_watch_ends_the_search_when_its_time_is_up():
    now, said = [0.0], []
    watch = SearchWatch(None, said.append, None, seconds=10.0, clock=lambda: now[0])
    watch.begin(3, 2, 8.0)
    now[0] = 4.0
    watch.fitted("a = b", 4.0)
    assert said == [
        "search for what explains 3 numbers: 2 further fits, about 8.0 s; it ends after 10 s",
        "search: fit 1 of 2, a = b: 4.0 s; about 4.0 s left",
    ]
    now[0] = 10.0
    for step in (watch.check, lambda: watch.update("variants", 1, 2), lambda: watch.step("more")):
        with pytest.raises(SearchStopped):
            step()
    assert isinstance(SearchStopped(), KeyboardInterrupt) and watch.is_over


def test_one_setting_explains_a_table_and_not_one_for_each_number(write, measured):
    """Four numbers of one threshold and two of another one: the first alone is the setting of the table."""
    three, two = measured(relevance__threshold=3.0), measured(relevance__threshold=2.0)
    names = ["ndcg@10", "precision@10", "hit@10"]
    rows = [[f"{three.loc[label, name]:.5f}" for name in names[:2]] for label in ("Pop", "Bias")]
    rows = [[*row, f"{two.loc[label, 'hit@10']:.5f}"] for row, label in zip(rows, ("Pop", "Bias"), strict=True)]
    path = write(TABLE.format(*rows).replace("'", '"'))
    path.write_text(path.read_text().replace("split.folds = 2", OPEN_THRESHOLD))
    judgements = replicate(path, budget=Budget(search=5)).judgements
    verdicts = {(judgement.algorithm, judgement.metric): judgement.verdict for judgement in judgements}
    assert {verdicts[label, name] for label in ("Pop", "Bias") for name in names[:2]} == {"underspecified"}
    differing = [label for label in ("Pop", "Bias") if two.loc[label, "hit@10"] != three.loc[label, "hit@10"]]
    assert differing and {verdicts[label, "hit@10"] for label in differing} == {"differs"}
    why = next(judgement.why for judgement in judgements if judgement.verdict == "differs")
    assert "another setting explains more of the table: relevance.threshold = 3.0" in why


def test_one_setting_explains_the_tables_of_several_protocols(write, measured):
    """A number with few digits says nothing alone, and belongs to the setting that another table shows."""
    three, other = measured(relevance__threshold=3.0), measured(relevance__threshold=3.0, ties__break="item-desc")
    names = ["ndcg@10", "precision@10", "hit@10"]
    rows = [[f"{three.loc[label, name]:.5f}" for name in names] for label in ("Pop", "Bias")]
    own = measured(ties__break="item-desc")
    few = next(
        (label, name, digits)
        for digits in (1, 2)
        for label in ("Pop", "Bias")
        for name in names
        if abs(round(other.loc[label, name], digits) - own.loc[label, name]) > 0.5 * 10**-digits
    )
    cell = '[[cells]]\nalgorithm = "{}"\nmetric = "{}"\nunder = "b"\nvalue = "{}"\n'
    label, name, digits = few
    more = '[protocols.b]\nbase = "random-5fold"\nsplit.folds = 2\nties.break = "item-desc"\n'
    more += 'open = ["relevance.threshold=2|3|4|5"]\n' + cell.format(
        label, name, f"{other.loc[label, name]:.{digits}f}"
    )
    alone = write(more)
    assert [judgement.verdict for judgement in replicate(alone, budget=Budget(search=5)).judgements] == ["differs"]
    path = write(more + TABLE.format(*rows).replace("'", '"'))
    path.write_text(path.read_text().replace("split.folds = 2", OPEN_THRESHOLD, 1))
    judgements = replicate(path, budget=Budget(search=5)).judgements
    assert [judgement.verdict for judgement in judgements] == ["underspecified"] * 7
    assert all("given with relevance.threshold = 3.0" in judgement.why for judgement in judgements)
    assert judgements[0].met == 7
