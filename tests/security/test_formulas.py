"""Text of others in CSV files is shown by a spreadsheet and never computed, and is read back exactly."""

import ast
import csv
import io
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import repro
from repro.cli import cli
from repro.data.io.per_user_values import read_per_user_values
from repro.data.spreadsheet import cell_of, csv_text, frame_csv, text_of
from repro.protocol import Protocol
from repro.runs.folder import csv_bytes

STARTS = "=+-@\t\r"
FORMULAS = [
    "=1+1",
    "+1+1",
    "-1+1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("x")',
    "-",
    "+",
    "--1",
    "-1e",
    "'=1",
    "''@x",
]
NUMBERS = ["-1", "+1", "-1.5", "-.5", "+2e10", "-1E-3", "0", "7"]
TEXT = st.text() | st.sampled_from(FORMULAS + NUMBERS) | st.text("'=+-@\t\r1.e", max_size=6)


@given(TEXT)
def test_every_text_is_read_back_and_none_begins_as_a_formula(text):
    cell = cell_of(text)
    assert text_of(cell) == text
    if cell[:1] and cell[0] in STARTS:
        assert float(cell) == float(text) and cell == text


@given(TEXT, TEXT)
def test_two_texts_never_share_a_cell(first, other):
    assert first == other or cell_of(first) != cell_of(other)


def test_numbers_stay_numbers():
    assert [cell_of(text) for text in NUMBERS] == NUMBERS
    frame = pd.DataFrame({"value": [-1.5, 2.0], "count": [-1, 1], "label": ["-1", "-x"]})
    assert frame_csv(frame) == b"value,count,label\n-1.5,-1,-1\n2.0,1,'-x\n"
    assert csv_text([["a", -1, -0.5, None, "-1", "-a"]]) == "a,-1,-0.5,,-1,'-a\n"


@pytest.mark.parametrize("kind", ["object", "string", "category"])
def test_tables_of_every_kind_are_neutral_and_read_back(kind):
    texts = FORMULAS + NUMBERS + ["", "plain", 'quo"te', "a,b", "new\nline"]
    frame = pd.DataFrame({"=head": pd.Series(texts, dtype=kind), "n": range(len(texts))})
    for written in (frame_csv(frame), csv_bytes(pa.table({"=head": texts, "n": range(len(texts))}))):
        rows = list(csv.reader(io.StringIO(written.decode(), newline="")))
        assert rows[0] == ["'=head", "n"]
        assert [text_of(row[0]) for row in rows[1:]] == texts
        assert not [row for row in rows if row[0][:1] and row[0][0] in STARTS and row[0] not in NUMBERS]


def test_every_csv_of_a_run_is_neutral_and_per_user_values_are_read_back(tmp_path):
    users = [f"{start}u{n}" for n, start in enumerate(["=", "+", "-", "@", "'=", "", "-", "="])]
    rows = [(user, f"={item}", float((at + item) % 5 + 1)) for at, user in enumerate(users) for item in range(12)]
    data = pd.DataFrame(rows, columns=["user", "item", "rating"])
    data.to_csv(tmp_path / "ratings.csv", index=False)
    algorithms = [{"use": "reference/popularity", "label": "=cmd|x"}, {"use": "reference/item-mean", "label": "@mean"}]
    protocol = Protocol.load("random-5fold", split__folds=2)
    study = repro.Study("ratings.csv", protocol, algorithms, ["ndcg@5"], folder=tmp_path)
    run = study.run(tmp_path / "run").folder
    arguments = ["export", str(run), "--to", "csv", "--to", "trec", "--into", str(tmp_path / "export"), "--quiet"]
    assert CliRunner().invoke(cli, arguments).exit_code == 0
    lists = data.rename(columns={"rating": "score"}).assign(score=lambda rows: -rows["score"])
    lists.to_csv(tmp_path / "lists.csv", index=False)
    for name in ("values.csv", "values.tsv", "values.parquet"):
        arguments = ["evaluate", "--run", f"@a={tmp_path / 'lists.csv'}", "--truth", str(tmp_path / "ratings.csv")]
        done = CliRunner().invoke(cli, [*arguments, "-m", "ndcg@5", "--per-user", str(tmp_path / name)])
        assert done.exit_code == 0, (done.output, done.exception)
    written = [run / "results.csv", *(tmp_path / "export").rglob("*.csv"), tmp_path / "values.csv"]
    for path in written:
        with path.open(newline="", encoding="utf-8") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert [cell for cell in cells if cell[:1] in tuple(STARTS) and cell_of(cell) != cell] == [], path
        if path.name != "decisions.csv":  # which has no text of others
            assert any(cell.startswith(("'=", "'@")) for cell in cells), path
    files = [tmp_path / f"values.{kind}" for kind in ("csv", "tsv", "parquet")]
    same = [read_per_user_values(file).to_pandas()["user"].tolist() for file in files]
    assert same[0] == same[1] == same[2] and set(same[0]) == set(users)


def test_csv_is_written_in_one_place():
    """No module of the core writes CSV by another library's hand; one makes CSV of numbers for a digest alone."""
    calls = []
    for path in Path(repro.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                if called.endswith((".to_csv", "csv.writer", "DictWriter", ".write_csv")):
                    calls.append((path.name, called))
    assert sorted(calls) == [
        ("evaluation.py", "self.per_user().to_csv"),
        ("folder.py", "pacsv.write_csv"),
        ("spreadsheet.py", "csv.writer"),
        ("spreadsheet.py", "shown.to_csv"),
    ]
