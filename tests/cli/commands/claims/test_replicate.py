"""`repro replicate` and `repro claim check`, as people and scripts use them."""

import json

import pytest
from click.testing import CliRunner

from repro.cli import cli
from repro.data import synthetic_interactions

CLAIM = """
title = "A tiny table"
source = "Table 1"
seeds = [3]
[data]
name = "ratings.csv"
[protocol]
base = "random-5fold"
split.folds = 2
open = ["ties.break=item-asc|item-desc"]
[[algorithms]]
use = "reference/item-mean"
label = "Mean"
[table]
metrics = ["rmse", "mae"]
Mean = ["0.11", "0.05"]
[[facts]]
name = "users"
value = "40"
"""


def call(*arguments):
    return CliRunner().invoke(cli, list(map(str, arguments)))


@pytest.fixture
def claims(tmp_path):
    """Two claims in folders: one about a small study, one about nothing that can be read."""
    folder = tmp_path / "claims" / "tiny"
    folder.mkdir(parents=True)
    rows = synthetic_interactions(users=40, items=50, ratings=500, alpha=1.0, seed=5)
    rows.to_frame().to_csv(folder / "ratings.csv", index=False)
    (folder / "claim.toml").write_text(CLAIM)
    return tmp_path / "claims"


def test_one_claim(claims):
    path = claims / "tiny" / "claim.toml"
    done = call("replicate", path, "--quiet", "--workers", 1, "--budget", 5)
    assert done.exit_code == 0, (done.output, done.exception)
    result = done.output.splitlines()
    assert result[-1] == "1 exact, 2 differs"
    page = (claims / "tiny" / "report.html").read_text()
    assert "A tiny table" in page and "What the source leaves open" in page and "ties.break" in page
    assert str(claims) not in page and str(claims) not in (claims / "tiny" / "verdicts.json").read_text()
    plain = json.loads(call("replicate", path, "--workers", 1, "--json", "--budget", 5).output)
    assert [item["what"] for item in plain["verdicts"]] == ["cell", "cell", "fact"]
    strict = call("replicate", path, "--quiet", "--workers", 1, "--strict", "--budget", 5)
    assert strict.exit_code == 1


def test_strict_takes_nothing_but_exact_numbers(claims):
    path = claims / "tiny" / "claim.toml"
    fact = path.read_text().partition("[table]")[0] + '[[facts]]\nname = "users"\nvalue = "{}"\n'
    pattern = '[[patterns]]\nsays = "x"\nleft = {{ algorithm = "Mean", metric = "rmse" }}\nis = ">"\nright = {}\n'
    for text, status in (
        (fact.format("40"), 0),
        (fact.format("41"), 1),
        (fact.format("40") + pattern.format(0), 0),
        (fact.format("40") + pattern.format(99), 1),
        (
            CLAIM.replace('"0.11", "0.05"', '"-", "0.05"').replace(
                "[table]", '[tolerance]\nkind = "interval"\nwidth = 9.0\n[table]'
            ),
            1,
        ),
    ):
        path.write_text(text)
        assert call("replicate", path, "--quiet", "--workers", 1, "--budget", 1).exit_code == 0
        assert call("replicate", path, "--quiet", "--workers", 1, "--budget", 1, "--strict").exit_code == status, text


def test_the_exit_codes_are_in_the_help():
    result = call("replicate", "--help").output
    assert "Exit codes" in result and "1  something was not run" in result


def test_a_folder_of_claims_and_its_page(claims):
    (claims / "broken").mkdir()
    (claims / "broken" / "claim.toml").write_text('titel = "x"\n')
    (claims / "README.md").write_text("# Ours\n\nText that stays.\n")
    done = call("replicate", claims, "--quiet", "--workers", 1, "--budget", 5)
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit)
    assert "1 claim cannot be read" in done.output
    assert "cannot be run" in done.output and "did you mean 'title'" in done.output
    readme = (claims / "README.md").read_text()
    assert readme.startswith("# Ours\n\nText that stays.\n") and "[A tiny table](tiny)" in readme
    assert "2 claims: " in readme and 'href="tiny/report.html"' in (claims / "index.html").read_text()
    (claims / "README.md").write_text(readme.replace("2 claims", "9 claims") + "\nBelow.\n")
    call("replicate", claims, "--quiet", "--workers", 1, "--budget", 5)
    again = (claims / "README.md").read_text()
    assert "2 claims: " in again and again.endswith("\nBelow.\n") and again.count("<!-- verdicts") == 1
    plain = json.loads(call("replicate", claims, "--json", "--workers", 1, "--budget", 5).stdout)
    assert len(plain["claims"]) == 2 and plain["summary"]


def test_a_folder_without_claims_is_told(tmp_path):
    done = call("replicate", tmp_path)
    assert done.exit_code != 0 and "there is no claim.toml below" in done.output


def test_check_says_what_is_open_and_what_is_lacking(claims):
    path = claims / "tiny" / "claim.toml"
    result = call("claim", "check", path).output
    assert "2 printed numbers, 1 figure of the data" in result
    assert "ties.break" in result and "item-asc, item-desc" in result and "2 settings" in result
    assert "would run: 1 algorithm" in result and "the claim states no digest of the data" in result
    assert "predict.missing = skip" in result  # neither stated nor open
    assert not (claims / "tiny" / "run").exists()
    plain = json.loads(call("claim", "check", path, "--json").output)
    assert plain["protocols"][0]["open"][0]["decision"] == "ties.break" and plain["cells"] == 2
    path.write_text(path.read_text().replace("ratings.csv", "nowhere.csv"))
    assert "neither a data set" in call("claim", "check", path).output


def test_pinned_versions_that_are_not_built_are_told(claims):
    path = claims / "tiny" / "claim.toml"
    more = '[frameworks]\nsurprise = ["scikit-surprise==0.0.1"]\n[[algorithms]]\nuse = "surprise/SVD"\nlabel = "SVD"\n'
    text = (
        path.read_text()
        .replace("[[algorithms]]", more + "[[algorithms]]", 1)
        .replace("Mean = [", 'SVD = ["0.9", "-"]\nMean = [')
    )
    path.write_text(text)
    result = call("claim", "check", path).output
    assert "repro plugins install surprise --pin scikit-surprise==0.0.1" in result
    done = call("replicate", path, "--quiet", "--workers", 1, "--budget", 5)
    assert done.exit_code == 1 and isinstance(done.exception, SystemExit)
    assert "1 exact, 2 differs, 1 not run" in done.stdout and "Not everything was run" in done.stderr
    result = json.loads(call("replicate", path, "--json", "--workers", 1, "--budget", 5).stdout)
    assert [item["verdict"] for item in result["verdicts"]] == ["not run", "differs", "differs", "exact"]


@pytest.mark.parametrize("arguments", [("replicate", "--help"), ("claim", "--help"), ("claim", "new", "--help")])
def test_help_has_an_example(arguments):
    assert "Example" in call(*arguments).output
