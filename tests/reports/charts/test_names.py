"""Names in charts: short, different, and next to their points without overlap."""

from hypothesis import given
from hypothesis import strategies as st

from repro.reports.charts import short_names
from repro.reports.charts.dot_chart import Frameworks
from repro.reports.run.point_names import named_points


@given(st.lists(st.text(max_size=60), max_size=30), st.integers(8, 40))
def test_short_names_are_all_different_and_not_too_long(names, most):
    short = short_names(names, most)
    assert list(short) == list(dict.fromkeys(names))
    assert len(set(short.values())) == len(short)
    assert all(
        len(text) <= max(most, len(name)) and (text == name or len(text) <= most) for name, text in short.items()
    )


def test_the_start_and_the_end_of_a_long_name_are_kept():
    first, second = "lenskit neighbours of items, cosine, 50", "lenskit neighbours of items, cosine, 20"
    short = short_names([first, second, "bias"], 20)
    # 19 letters and the sign: ten from the start, nine from the end.
    assert short == {first: "lenskit ne…osine, 50", second: "lenskit ne…osine, 20", "bias": "bias"}


def test_points_far_apart_have_names_and_points_close_together_share_numbers():
    distant = named_points(["a", "b", "c"], [0.0, 0.5, 1.0], [0.0, 0.5, 1.0])
    assert not distant.numbered and [text.text for text in distant.texts] == ["a", "b", "c"]
    crowd = [f"algorithm {number}" for number in range(20)]
    together = named_points(crowd, [0.0] * 10 + [1.0] * 10, [0.0] * 10 + [1.0] * 10)
    assert together.numbered
    assert [text.text for text in together.texts] == [
        ", ".join(map(str, range(1, 11))),
        ", ".join(map(str, range(11, 21))),
    ]


def test_fifteen_frameworks_differ_in_colour_and_mark_together():
    frameworks = Frameworks(f"framework {number:02}" for number in range(15))
    styles = {(frameworks.colour(name), frameworks.shape(name)) for name in frameworks.names}
    assert len(styles) == 15
