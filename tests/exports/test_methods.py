"""The methods section: every decision that bears on the numbers, nothing cited that is not in the references."""

import re
import shutil
import subprocess

import pytest

from repro import Protocol, Study
from repro.evaluation.metrics import bearing, metrics, parse_measure
from repro.exports import export
from repro.exports.bibliography import citations, entries
from repro.exports.methods_text import sections
from repro.runs.run import Run


@pytest.fixture(scope="module")
def methods(run, tmp_path_factory):
    return export(run, "methods", tmp_path_factory.mktemp("methods") / "methods")


def stated(folder):
    return {key for section in sections(Run(folder)) for item in section.sentences for key in item.states}


def test_every_decision_that_bears_on_the_run_is_stated(run, one_relevant, predictions_only):
    """All of the journal, but the variants of metrics that the study does not measure."""
    measured = {run: ("precision", "recall", "ndcg", "ap"), one_relevant: ("precision",), predictions_only: ()}
    for folder, names in measured.items():
        every = set(Run(folder).decisions)
        other = {key for key in every if key.startswith("metric.") and key.split(".")[1] not in names}
        if folder == predictions_only:
            families = ("candidates", "missing", "scores", "ties", "relevance", "average")
            other |= {key for key in every if key.partition(".")[0] in families} - {"average.folds"}
        if folder == one_relevant:
            other |= {key for key in every if key.startswith("predict.")}
        assert stated(folder) == every - other


def test_predictions_bear_on_lists_and_lists_on_predictions_only_where_both_are_measured():
    protocol = Protocol.load("random-5fold")
    of_lists = bearing(protocol, [parse_measure("hit@10", protocol, metrics())])
    of_ratings = bearing(protocol, [parse_measure("rmse", protocol, metrics())])
    assert "ties.break" in of_lists and "predict.clip" not in of_lists
    assert "predict.clip" in of_ratings and "ties.break" not in of_ratings
    assert {"data.scale", "split.folds", "average.folds"} <= set(of_lists) & set(of_ratings)


def test_the_text_says_what_was_done(methods):
    text = (methods / "methods.md").read_text()
    assert "with 1,600 interactions of 80 users with 60 items" in text
    assert "We divided all interactions at random into 2 folds" in text
    assert "Each of the 2 folds had 800 interactions for training and 800 for testing." in text
    assert "ndcg@10 is the normalised discounted cumulative gain of the first 10 items" in text
    assert "All random draws come from the seed 3" in text


def test_names_are_text_and_no_markup(methods):
    text = (methods / "methods.md").read_text()
    assert r"pop\_100% & \#1 \{x\} ~^\\ \<script\>alert('é') 中" in text and "<script" not in text.replace(r"\<", "")
    assert r"{\ensuremath{<}}script" in (methods / "methods.tex").read_text()


def test_all_that_is_cited_is_in_the_references_and_the_other_way_round(methods):
    latex = (methods / "methods.tex").read_text()
    keys = {key for group in re.findall(r"\\cite(?:\[[^\]]*\])?\{([^}]*)\}", latex) for key in group.split(",")}
    written = re.findall(r"^@\w+\{([\w-]+),$", (methods / "references.bib").read_text(), flags=re.MULTILINE)
    assert keys == set(written) and len(written) == len(set(written)) > 5
    markdown, _, references = (methods / "methods.md").read_text().partition("## References")
    numbers = {
        int(number)
        for group in re.findall(r"[^\\]\[(\d[^\]]*)\]", markdown)
        for number in re.findall(r"\b(\d+)(?=;|,|$)", group)
    }
    listed = [int(number) for number in re.findall(r"^(\d+)\. ", references, flags=re.MULTILINE)]
    assert listed == list(range(1, len(written) + 1)) and set(listed) <= numbers


@pytest.mark.skipif(not (shutil.which("pdflatex") and shutil.which("bibtex")), reason="there is no TeX here")
def test_tex_sets_it_with_its_references(methods, tmp_path):
    for name in ("methods.tex", "references.bib"):
        shutil.copy(methods / name, tmp_path)
    body = "\\input{methods}\n\\bibliographystyle{plain}\n\\bibliography{references}"
    (tmp_path / "paper.tex").write_text(f"\\documentclass{{article}}\n\\begin{{document}}\n{body}\n\\end{{document}}\n")
    tex = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper"]
    for command in (tex, ["bibtex", "paper"], tex, tex):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
        assert done.returncode == 0, done.stdout[-3000:]
    assert "undefined" not in done.stdout


def test_a_tuned_run_says_how(data, tmp_path):
    protocol = Protocol.load("random-5fold", split__folds=2, split__validation_share=0.2)
    algorithms = ["reference/popularity", {"use": "reference/item-knn", "parameters": {"center": "mean"}}]
    tune = {"metric": "ndcg@10", "trials": 2, "space": {"item-knn": {"k": [5, 20]}}}
    folder = Study(data, protocol, algorithms, ["ndcg@10"], seed=3, tune=tune).run(tmp_path / "run").folder
    text = (export(folder, "methods", tmp_path / "methods") / "methods.md").read_text()
    assert "We set a random 20% of the training interactions of each fold apart for validation." in text
    assert "Parameters were tuned by ndcg@10 on the validation set of each fold with a grid search" in text
    assert "was: k in 5, 20." in text
    checklist = (tmp_path / "methods" / "checklist.md").read_text()
    assert re.search(r"Is tuning separate from the test set\? \| yes \| event \d+ \(tuning.finished\)", checklist)


def test_citations_are_found_however_they_are_written():
    assert [(item.key, item.where) for item in citations("Fisher 1935; Bellogín 2012, table 4.2")] == [
        ("fisher1935", ""),
        ("bellogin2012", "table 4.2"),
    ]
    long = "Cremonesi, Koren & Turrin (2010), RecSys, doi:10.1145/1864708.1864721"
    assert [item.key for item in citations(long)] == ["cremonesi2010"]
    assert [item.key for item in citations("Schein et al. 2002, 2005")] == ["schein2002", "schein2005"]
    assert citations("somebody, some day") == [] == citations("Nobody 1901")
    assert entries()["steck2019"].plain() == (
        "Harald Steck. Embarrassingly Shallow Autoencoders for Sparse Data. The World Wide Web Conference (WWW), "
        "3251–3257, 2019. https://doi.org/10.1145/3308558.3313710."
    )


def test_all_that_the_code_cites_is_known():
    from repro.plugin import plugins
    from repro.protocol import registry
    from repro.stats import CORRECTIONS, TESTS

    decisions = [
        cite for item in registry().values() for cite in (item.cite, *(option.cite for option in item.options))
    ]
    algorithms = [item.cite for framework in plugins().frameworks.values() for item in framework.algorithms]
    rest = [item.cite for item in (*metrics().values(), *TESTS.values(), *CORRECTIONS.values())]
    for cite in filter(None, {*decisions, *algorithms, *rest}):
        assert len(citations(cite)) >= len(cite.split(";")), cite
