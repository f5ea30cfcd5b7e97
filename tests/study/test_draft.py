"""A first study by the look of the data: it makes sense, passes the check and runs."""

import numpy as np
import pytest

from repro import Study
from repro.errors import ProtocolError, StudyError
from repro.study.check import check_study
from repro.study.draft import draft_study

RNG = np.random.default_rng(3)


def rows(
    users=40, items=30, each=10, columns="user,item,rating,timestamp", rating=lambda n: 1 + n % 7 % 5, spread=True
):
    """Each user has ``each`` items, at times of all users alike, or (``spread=False``) of one user after the other."""
    lines, number = [columns], 0
    for user in range(users):
        for step, item in enumerate(RNG.permutation(items)[:each]):
            number += 1
            time = 1_600_000_000 + (step * 1000 + user if spread else user * 1000 + step)
            values = {"user": f"u{user}", "item": f"i{item}", "rating": rating(number), "timestamp": time}
            lines.append(",".join(str(values[name]) for name in columns.split(",")))
    return "\n".join(lines) + "\n"


CASES = {
    "ratings and times": (rows(), "time-split", {"relevance.rule": "threshold", "relevance.threshold": 4.0}),
    "users one after the other": (
        rows(spread=False),
        "leave-one-last",
        {"relevance.rule": "threshold", "relevance.threshold": 4.0},
    ),
    "ratings without times": (
        rows(columns="user,item,rating"),
        "random-80-20",
        {"relevance.rule": "threshold", "relevance.threshold": 4.0},
    ),
    "ten stars": (
        rows(columns="user,item,rating", rating=lambda n: 1 + n % 10),
        "random-80-20",
        {"relevance.rule": "threshold", "relevance.threshold": 8.0},
    ),
    "thumbs": (
        rows(columns="user,item,rating", rating=lambda n: n % 2),
        "random-80-20",
        {"relevance.rule": "threshold", "relevance.threshold": 1.0},
    ),
    "clicks": (rows(columns="user,item"), "implicit-default", {}),
    "clicks and times": (rows(columns="user,item,timestamp"), "time-split", {}),
    "constant ratings": (rows(columns="user,item,rating", rating=lambda n: 1), "implicit-default", {}),
    "play counts": (rows(columns="user,item,rating", rating=lambda n: 1 if n % 3 else n), "implicit-default", {}),
}


@pytest.mark.parametrize("case", CASES)
def test_the_protocol_fits_the_data_and_the_study_passes_the_check_and_runs(case, tmp_path):
    content, protocol, changes = CASES[case]
    (tmp_path / "data.csv").write_text(content)
    draft = draft_study(tmp_path / "data.csv", tmp_path)
    assert (draft.protocol, dict(draft.changes)) == (protocol, changes)
    path = tmp_path / "study.toml"
    path.write_text(draft.to_toml())
    assert [problem for problem in check_study(path) if problem.severity == "error"] == []
    study = Study.load(path)
    assert study.data == "data.csv" and study.seed == 42
    labels = [entry.label for entry in study.entries if entry.framework == "reference"]
    table = study.only(labels).run().table()
    assert table.shape == (len(labels), 3) and table.notna().all().all()


def test_repeated_pairs_get_a_rule_except_where_the_protocol_has_it(tmp_path):
    clicks = rows(columns="user,item")
    (tmp_path / "clicks.csv").write_text(clicks + "".join(clicks.splitlines(keepends=True)[1:9]))
    assert dict(draft_study(tmp_path / "clicks.csv", tmp_path).changes) == {}
    timed = rows(columns="user,item,timestamp")
    (tmp_path / "timed.csv").write_text(timed + "".join(timed.splitlines(keepends=True)[1:9]))
    draft = draft_study(tmp_path / "timed.csv", tmp_path)
    assert dict(draft.changes) == {"data.duplicates": "first"}
    assert "8 of 408 rows repeat a user and an item" in draft.to_toml()


def test_comments_explain_each_choice(tmp_path):
    (tmp_path / "data.csv").write_text(rows())
    text = draft_study(tmp_path / "data.csv", tmp_path).to_toml()
    lines = text.splitlines()
    for setting in ("seed =", "metrics =", "base =", "rule ="):
        place = next(number for number, line in enumerate(lines) if line.startswith(setting))
        assert any(line.startswith("#") for line in lines[max(0, place - 5) : place]), setting
    assert "Others: leave-one-last, random-80-20" in text


def test_choices_of_the_user_stand(tmp_path):
    (tmp_path / "data.csv").write_text(rows())
    draft = draft_study(tmp_path / "data.csv", tmp_path)
    chosen = draft.with_choices("bellogin-ai-an", ["hit@5"], ["reference/bias"], "Why?", 7)
    assert (chosen.protocol, chosen.metrics, chosen.algorithms) == ("bellogin-ai-an", ("hit@5",), ("reference/bias",))
    assert dict(chosen.changes) == {}  # a paper's protocol says what is relevant
    assert 'question = "Why?"' in chosen.to_toml() and "seed = 7" in chosen.to_toml()
    assert draft.with_choices("cremonesi-2010-1r").metrics == ("ndcg@10", "hit@10", "rr@10")
    assert dict(draft.with_choices("leave-one-last").changes)["relevance.threshold"] == 4
    assert dict(draft.with_choices("implicit-default").changes) == {}
    with pytest.raises(ProtocolError, match="did you mean 'time-split'"):
        draft.with_choices("time-splt")


@pytest.mark.parametrize(("name", "words"), [("no.csv", "there is no file no.csv"), ("empty.csv", "empty.csv")])
def test_data_that_is_not_there(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.csv").write_text("user,item\n")
    with pytest.raises(Exception, match=words) as caught:
        draft_study(name, tmp_path)
    assert isinstance(caught.value, StudyError) or "rows" in str(caught.value)
