"""Findings of one code are one paragraph, however many algorithms it is about, and what they share is said once."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import repro.evaluation.suspicion
from repro.evaluation.suspicion import Facts, Subject, Value, find_suspicious, summaries
from repro.evaluation.suspicion.summary import PARAGRAPHS
from repro.lists import read_frames
from repro.lists.mismatches import mismatch_findings
from repro.protocol import Protocol
from tests.lists.test_mismatches import LISTS, TRUTH


def facts(**counts):
    return Facts(folds=2, users=100, **counts)


def wide(n):
    """Ties leave from 0.1 to more than 0.5 open."""
    return [Value("ndcg@10", 0.2, 0.1, 0.5 + n / 1000, 10), Value("rr", 0.3, 0.1, 0.6 + n / 1000)]


def tied(n):
    return facts(tied_users={10: 99 - n % 9})


# For each code and severity: the n-th of several algorithms that have it.
MAKERS = {
    ("ties.decide", "warning"): lambda name, n: Subject(name, wide(n), tied(n)),
    ("ties.cross", "warning"): lambda name, n: Subject(name, [], tied(n)),
    ("ties.cross", "note"): lambda name, n: Subject(
        name, [Value("rr", 0.2 * 2**n, 0.2 * 2**n, 0.2 * 2**n, 10)], tied(n)
    ),
    ("ties.order", "note"): lambda name, n: Subject(
        name, [Value("rr", 1 - n / 1e3, 0.999 - n / 1e3, 1 - n / 1e3)], facts()
    ),
    ("scores.missing", "warning"): lambda name, n: Subject(name, [], _missing(n)),
    ("scores.constant", "warning"): lambda name, n: Subject(name, [], facts(lists=2000, constant_lists=1900 + n)),
    ("scores.fallback", "warning"): lambda name, n: Subject(name, [], facts(candidates=2000, fallback=1900 + n)),
    ("scores.ratings", "note"): lambda name, n: Subject(name, [], facts(lists=9), scores="ratings"),
    ("predictions.missing", "warning"): lambda name, n: Subject(
        name, [], facts(predictions=2000 + n, predictions_missing=2000 + n)
    ),
    ("predictions.constant", "warning"): lambda name, n: Subject(
        name, [], facts(predictions=9, prediction_range=(n + 0.5, n + 0.5))
    ),
    ("predictions.fallback", "warning"): lambda name, n: Subject(
        name, [], facts(predictions=2000, predictions_fallback=1900 + n)
    ),
    ("lists.empty", "warning"): lambda name, n: Subject(name, [], facts(lists=2000 + n, empty_lists=2000 + n)),
    ("ratings.constant", "warning"): lambda name, n: Subject(name, [], facts(ratings_vary=False), scores="ratings"),
    ("parameter.chosen", "note"): lambda name, n: Subject(
        name, [], facts(), chosen={"normalise": f"reason {n % 2}", "k": "another reason"}
    ),
    ("model.fitted-before", "warning"): lambda name, n: Subject(name, [], facts(), fitted_before=True),
    ("test.used", "warning"): lambda name, n: Subject(name, [], facts(), leaks=("fitted on all rows",)),
    ("folds.no-value", "warning"): lambda name, n: Subject(
        name, [Value(m, float("nan"), folds={f"f{n}": (False, 0), "f": (True, 3)}) for m in ("rr", "ap")], facts()
    ),
    ("entries.identical", "warning"): lambda name, n: Subject(name, [], facts(), f"x/{n}", lists=f"digest {n // 2}"),
    ("entries.identical", "note"): lambda name, n: Subject(name, [], facts(), f"{n}/x", lists=f"digest {n // 2}"),
}
# What a line about an algorithm must show of the figures of its finding.
SHOWN = ("value", "lowest", "highest", "tied_users", "k", "touched", "prediction", "lists", "where")


def _missing(n):
    """Nothing is scored, or little of what is listed."""
    if n % 2:
        return facts(candidates=2000 + n, unscored=2000 + n)
    return facts(listed=2000, listed_unscored=1500 + n, candidates=5000)


def findings(code, severity, several):
    """The findings about ``several`` algorithms, of one code."""
    names = [f"algorithm-{n}x" for n in range(several)]
    make = MAKERS[code, severity]
    result = find_suspicious([make(name, n) for n, name in enumerate(names)], "item-asc", "last")
    return names, [finding for finding in result if (finding.code, finding.severity) == (code, severity)]


def shown(figure):
    if isinstance(figure, float):
        return f"{figure:.4f}".rstrip("0")
    return f"{figure:,}" if isinstance(figure, int) else figure


def test_every_code_has_a_paragraph_and_is_documented_and_tested():
    documented = re.findall(r"[a-z]+\.[a-z-]+(?=[ ,])", repro.evaluation.suspicion.__doc__.partition("versions:")[2])
    assert set(documented) == set(PARAGRAPHS) == {code for code, _ in MAKERS} | {"inputs.mismatch"}


@pytest.mark.parametrize("several", [2, 6, 30])
@pytest.mark.parametrize(("code", "severity"), MAKERS, ids=str)
def test_several_algorithms_with_one_code_are_one_paragraph_that_names_them_all(code, severity, several):
    names, result = findings(code, severity, several)
    (paragraph,) = summaries(result)
    assert (paragraph.code, paragraph.severity, set(paragraph.algorithms)) == (code, severity, set(names))
    text = str(paragraph)
    assert all(name in re.split(r"[\s,:;.()]+", text) for name in names)
    assert len(text.splitlines()) <= several + 1
    if several > 2 and len(result) > 3:
        assert len(text) < 0.7 * sum(len(finding.sentence) for finding in result), "common words are repeated"
    if severity == "note":
        assert not paragraph.lines
        return
    for finding in result if len(result) > 1 else ():
        own = [shown(finding.figures[figure]) for figure in SHOWN if figure in finding.figures]
        line = next(line for line in paragraph.lines if finding.algorithm in re.split("[:,] ", line)) if own else ""
        assert all(figure in line for figure in own), (own, line)


@pytest.mark.parametrize(("code", "severity"), MAKERS, ids=str)
def test_one_finding_is_its_sentence(code, severity):
    result = findings(code, severity, 2)[1][:1]
    assert [str(item) for item in summaries(result)] == [result[0].sentence]


@given(st.lists(st.sampled_from(list(MAKERS)), min_size=1, unique=True), st.integers(2, 8), st.randoms())
def test_codes_are_told_apart_and_warnings_come_first(kinds, several, random):
    result = [finding for kind in kinds for finding in findings(*kind, several)[1]]
    random.shuffle(result)
    paragraphs = summaries(result)
    assert {(paragraph.code, paragraph.severity) for paragraph in paragraphs} == set(kinds) and len(paragraphs) == len(
        kinds
    )
    severities = [paragraph.severity for paragraph in paragraphs]
    assert severities == sorted(severities, reverse=True), "warning comes after note in the alphabet"


def test_lists_that_do_not_meet_the_truth_are_told_by_name():
    protocol = Protocol.load("random-5fold")
    given = {"a.csv": LISTS.head(0), "b.csv": LISTS.assign(score=float("nan")), "c.csv": LISTS.assign(item="other")}
    result = [
        finding
        for name, frame in given.items()
        for finding in mismatch_findings(read_frames(frame, truth=TRUTH), protocol, name)
    ]
    (paragraph,) = summaries(result)
    assert paragraph.algorithms == tuple(given) and len(paragraph.lines) == 3
    for line, sentence in zip(paragraph.lines, (finding.sentence for finding in result), strict=True):
        assert line.endswith(sentence)


@pytest.mark.parametrize("figure", [None, "text", 1])
@pytest.mark.parametrize(("code", "severity"), MAKERS, ids=str)
def test_figures_of_another_version_do_not_matter(code, severity, figure):
    names, result = findings(code, severity, 4)
    others = [
        replace(finding, figures={} if figure is None else dict.fromkeys(finding.figures, figure)) for finding in result
    ]
    (paragraph,) = summaries(others)
    assert all(name in re.split(r"[\s,:;.()]+", str(paragraph)) for name in names)


def test_what_a_later_version_found_is_told_too():
    result = [repro.evaluation.suspicion.Finding("later.code", "note", name, f"{name} is odd.") for name in "ab"]
    assert str(summaries(result)[0]).splitlines()[1:] == ["  a is odd.", "  b is odd."]


def test_a_line_about_many_metrics_stays_short():
    values = [Value(f"ndcg@{k}", 0.2, 0.1, 0.5) for k in range(1, 21)]
    (paragraph,) = summaries(find_suspicious([Subject(name, values, Facts()) for name in "ab"], "random"))
    assert len(paragraph.lines) == 1, "algorithms with the same text share a line"
    assert paragraph.lines[0].startswith("a, b: ndcg@1 0.2000 (0.1000 to 0.5000), ndcg@2 ")
    assert "ndcg@3 0.2000 (0.1000 to 0.5000) and 17 more metrics;" in paragraph.lines[0]
    assert all(len(line) < 160 for line in paragraph.lines)
