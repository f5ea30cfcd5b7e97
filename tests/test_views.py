"""Results fit on a screen, and names in them cannot become markup in a notebook."""

import pandas as pd
import pytest

import repro

ROWS = [(user, item, 1 + (user * item) % 5) for user in range(12) for item in range(8) if (user + item) % 3]
LABEL = "<b>ease"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shown")
    pd.DataFrame(ROWS, columns=["user", "item", "rating"]).to_csv(folder / "ratings.csv", index=False)
    protocol = repro.Protocol.load("random-5fold", split__folds=2)
    algorithms = ["reference/popularity", {"use": "reference/ease", "label": LABEL}]
    study = repro.Study(folder / "ratings.csv", protocol, algorithms, "ndcg@5", question="<i>Which?")
    run = study.run(folder / "run", keep_scores=True)
    explanation = repro.explain(run, "said-bellogin-ut")
    return {
        "study": study,
        "run": run,
        "protocol": protocol,
        "interactions": study.interactions(),
        "explanation": explanation,
        "multiverse": repro.multiverse(run, ["ties"]),
        "verification": repro.verify(run.folder),
    }


NAMES = ["study", "run", "protocol", "interactions", "explanation", "multiverse", "verification"]


@pytest.mark.parametrize("name", NAMES)
def test_it_fits_on_a_screen_and_is_escaped(name, results):
    text, page = repr(results[name]), results[name]._repr_html_()
    assert text and len(text.splitlines()) <= 45 and " object at 0x" not in text
    assert "<b>ease" not in page and "<i>Which" not in page
    if LABEL in text:
        assert "&lt;b&gt;ease" in page


def test_an_explanation_shows_both_ends_and_each_part(results):
    explanation = results["explanation"]
    table = explanation._table()
    assert len(table) == 2 + len(explanation.contributions)
    total = table.iloc[0] + table.iloc[1:-1].sum()
    assert total.to_numpy() == pytest.approx(table.iloc[-1].to_numpy(), abs=1e-12)


def test_a_study_and_a_protocol_name_what_is_in_them(results):
    text = repr(results["study"])
    assert results["study"].protocol.hash[:12] in text and "ndcg@5" in text and LABEL in text
    assert "split.folds  2" in repr(results["protocol"])
    assert len(repr(results["protocol"]).splitlines()) == 3
