"""User by user: how far the others are from the best, and for how many users."""

from __future__ import annotations

from repro.report.html import Table
from repro.report.run.distribution_section import quantile_chart, quantiles
from repro.report.run.material import Material
from repro.report.run.sections import Section, figure
from repro.report.run.significance_section import Tested, written_p


def differences_section(run: Material) -> Section:
    """The differences of each algorithm to the best one, by the first metric."""
    title = "User by user against the best"
    tested = run.tested.get(run.first)
    if tested is None or tested.against.empty:
        return Section("differences", title, ["There are no two algorithms with values of each user."])
    others = [label for label in run.leaders(run.first) if label in tested.against.index]
    spread = quantiles(tested.values[others].sub(tested.values[tested.best], axis=0))
    side = {"higher": "left of", "lower": "right of"}.get(tested.better, "beside")
    sentence = (
        f"{tested.metric} of each user minus that of {tested.best}: {side} zero, {tested.best} is the better one. Half "
        "of the users lie within the bar, 90% within the line; the tick is the median, the dot the mean."
    )
    drawn = figure(f"Differences to {tested.best}", sentence, quantile_chart(spread, f"difference in {tested.metric}"))
    return Section("differences", title, [drawn, _table(tested, others, title)])


def _table(tested: Tested, others: list[str], label: str) -> Table:
    header = ["algorithm", "difference", "95% interval", "d_z", "users better off", "same", "worse off", "p", "verdict"]
    rows = []
    for other in others:
        row = tested.against.loc[other]
        differences = (tested.values[other] - tested.values[tested.best]).dropna()
        better = differences < 0 if tested.better == "lower" else differences > 0
        same = differences == 0
        shares = (f"{share.mean():.1%}" for share in (better, same, ~better & ~same))
        interval = f"{row['low']:+.4f} to {row['high']:+.4f}"
        p = written_p(float(row["p_corrected"]))
        rows.append(
            [other, f"{row['difference']:+.4f}", interval, f"{row['cohen_dz']:+.2f}", *shares, p, row["verdict"]]
        )
    caption = (
        f"Each algorithm against {tested.best}: {tested.stated}. Users are better or worse off with the algorithm of "
        "the row."
    )
    return Table(header, rows, header[1:-1], caption, label)
