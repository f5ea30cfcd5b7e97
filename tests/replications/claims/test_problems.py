"""All problems of a claim file at once."""

from repro.replications.claims.problems import problems_of

CLAIM = """
title = "A claim"
source = "? where it was printed"
[data]
name = "ratings.csv"
digest = "123"
[datasets.other]
name = "nowhere.csv"
[datasets.third]
name = "? the third"
[protocol]
base = "random-5fold"
split.fold = 3
[[algorithms]]
use = "reference/poplarity"
label = "A"
[[algorithms]]
use = "? the algorithm"
label = "B"
[[table]]
metrics = ["rmse", "? Zest"]
A = ["x", "0.1"]
[[table]]
metrics = ["rmse"]
data = "other"
A = ["y"]
"""


def test_everything_is_listed_with_its_line(folder):
    path = folder / "claim.toml"
    path.write_text(CLAIM)
    lines = CLAIM.splitlines()
    problems = problems_of(path)
    shown = [(problem.kind, lines[problem.line - 1].partition(" =")[0]) for problem in problems]
    assert ("to fill in", "source") in shown and ("to fill in", "name") in shown
    assert ("to fill in", "use") in shown and ("to fill in", "metrics") in shown
    texts = {kind: [problem.text for problem in problems if problem.kind == kind] for kind, _ in shown}
    assert len(texts["to fill in"]) == 4
    assert texts["absent"] == [
        "the data nowhere.csv is neither a data set of `repro data list` nor a file next to the claim"
    ]
    (digest,) = texts["digest"]
    assert digest.startswith("the digest of ratings.csv is ") and "the claim states 123" in digest
    invalid = "\n".join(texts["invalid"])
    assert "split.fold" in invalid and "poplarity" in invalid and "'y' is not a number" in invalid


def test_a_whole_claim_has_none(write):
    path = write('[table]\nmetrics = ["rmse"]\nBias = ["0.9"]\n')
    assert problems_of(path) == []
    path = write('[table]\nmetrics = ["rmse"]\nBiass = ["0.9"]\n')
    (problem,) = problems_of(path)
    assert problem.kind == "invalid" and "'Biass' is not an algorithm" in problem.text and problem.line
