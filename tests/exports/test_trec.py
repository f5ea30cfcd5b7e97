"""TREC files: other evaluators read them, and get the run's own numbers where they mean the same by a metric."""

import csv

import ir_measures
import pandas as pd
import pytest
import pytrec_eval
from repro_eval.metadata import MetadataHandler

from repro.errors import ProtocolError, StudyError
from repro.exports import export
from repro.runs.run import Run

SAME = {"ndcg@10": "ndcg_cut_10", "precision@5": "P_5", "recall@10": "recall_10", "ap@20": "map_cut_20"}


@pytest.fixture(scope="module")
def trec(run, tmp_path_factory):
    return export(run, "trec", tmp_path_factory.mktemp("trec") / "trec")


def index(folder):
    with (folder / "index.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def values(run):
    """The run's own values by algorithm, fold, metric (its short name) and user."""
    frame = Run(run).per_list()
    frame["metric"] = frame["metric"].str.replace(r"\[.*\]", "", regex=True)
    return frame.set_index(["algorithm", "fold", "metric"]).sort_index()


def test_pytrec_eval_gets_the_numbers_of_the_run(trec, run):
    own = values(run)
    rows = index(trec)
    assert len(rows) == 4 * 2
    for row in rows:
        with (trec / row["file"]).open() as lists, (trec / row["qrels"]).open() as judged:
            qrels, ranking = pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(lists)
        result = pytrec_eval.RelevanceEvaluator(qrels, set(SAME.values())).evaluate(ranking)
        for metric, theirs in SAME.items():
            mine = own.loc[(row["algorithm"], row["fold"], metric)].dropna().set_index("user")["value"]
            assert len(mine) > 60
            for user, value in mine.items():
                topic = user.replace(" ", "%20").replace("#", "%23")
                assert result[topic][theirs] == pytest.approx(value, abs=1e-12)


def test_ir_measures_gets_the_mean_of_users_with_relevant_items(trec, run):
    row = next(row for row in index(trec) if row["algorithm"] == "[item] kNN" and row["fold"] == "2")
    measures = [ir_measures.nDCG @ 10, ir_measures.RR]
    qrels = pd.DataFrame(ir_measures.read_trec_qrels(str(trec / row["qrels"])))
    relevant = qrels.groupby("query_id")["relevance"].transform("max") > 0
    lists = pd.DataFrame(ir_measures.read_trec_run(str(trec / row["file"])))
    result = ir_measures.calc_aggregate(measures, qrels[relevant], lists)
    own = Run(run).results.set_index(["algorithm", "fold", "metric"])["value"]
    assert result[measures[0]] == pytest.approx(own["[item] kNN", "2", "ndcg@10"], abs=1e-12)


def test_ids_that_would_end_a_word_are_escaped_and_said_to_be(trec):
    assert "%20 is a blank" in (trec / "README.txt").read_text()
    first = (trec / index(trec)[0]["file"]).read_text().splitlines()[0].split(" ")
    assert len(first) == 6
    assert first[0].startswith("user%20%23") and first[2].startswith("item%2050%25%20<b>")


def test_ids_that_need_no_escape_are_left_as_they_are(one_relevant, tmp_path):
    """With one relevant item in a list, a topic is a user and that item, which is all that its qrels have."""
    export(one_relevant, "trec", tmp_path / "trec")
    row = index(tmp_path / "trec")[0]
    qrels = [line.split(" ") for line in (tmp_path / "trec" / row["qrels"]).read_text().splitlines()]
    assert all(topic == f"{topic.partition(':')[0]}:{item}" and grade == "1" for topic, _, item, grade in qrels)
    assert "%20" not in (tmp_path / "trec" / "README.txt").read_text()
    with (tmp_path / "trec" / row["file"]).open() as lists, (tmp_path / "trec" / row["qrels"]).open() as judged:
        evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(judged), {"P_5"})
        result = evaluator.evaluate(pytrec_eval.parse_run(lists))
    own = values(one_relevant).loc[(row["algorithm"], row["fold"], "precision@5")]
    mine = {f"{each.user}:{each.target}": each.value for each in own.itertuples()}
    assert mine == pytest.approx({topic: value["P_5"] for topic, value in result.items()})


def test_scores_fall_by_one_from_rank_to_rank(trec):
    by_topic = {}
    for line in (trec / index(trec)[0]["file"]).read_text().splitlines():
        topic, _, _, rank, score, _ = line.split(" ")
        by_topic.setdefault(topic, []).append((int(rank), int(score)))
    for pairs in by_topic.values():
        assert [rank for rank, _ in pairs] == list(range(1, len(pairs) + 1))
        assert [score for _, score in pairs] == list(range(len(pairs), 0, -1))


def test_repro_eval_reads_the_header_and_the_run_below_it(trec, run, tmp_path):
    annotated = export(run, "ir-metadata", tmp_path / "annotated")
    for row in index(annotated):
        path = str(annotated / row["file"])
        header = MetadataHandler.read_metadata(path)
        assert set(header) == {
            *("ir_metadata", "tag", "platform", "research goal", "implementation", "method", "actor", "data")
        }
        assert header["method"]["retrieval"][0]["name"] == row["algorithm"]
        assert header["method"]["protocol"]["ties.break"] == "item-asc"
        assert header["research goal"]["publication"]["abstract"] == 'Which | is "it", & why?'
        assert header["data"]["test collection"]["qrels"] == row["qrels"]
        with (trec / row["file"]).open() as plain:
            assert MetadataHandler.strip_metadata(path) == pytrec_eval.parse_run(plain)


def test_runs_without_lists_or_without_what_relevance_hangs_on_are_refused(predictions_only, data, tmp_path):
    with pytest.raises(StudyError, match="has no lists"):
        export(predictions_only, "trec", tmp_path / "trec")
    from repro import Protocol, Study

    protocol = Protocol.load("random-5fold").replace({"split.folds": 2, "relevance.rule": "user-mean"})
    folder = Study(data, protocol, ["reference/popularity"], ["hit@5"]).run(tmp_path / "run").folder
    with pytest.raises(ProtocolError, match="depends on training ratings that a run does not store"):
        export(folder, "trec", tmp_path / "trec")
