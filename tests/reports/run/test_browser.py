"""The report in a real browser: Debian's Chromium, driven by Playwright, where there is one."""

import shutil
from itertools import pairwise

import pytest

from repro.evaluation.suspicion import summaries
from repro.reports import write_report
from repro.reports.run.run_page import REPLAY

from .conftest import EVIL

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine")
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
DRAWN = "() => document.querySelectorAll('.chart').length === document.querySelectorAll('.chart.drawn').length"


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield launched
        launched.close()


@pytest.fixture
def opened(browser):
    """Opens a report; at the end it must have asked for nothing and complained of nothing."""
    contexts, arguments, output = [], [], []

    def open_page(path, **options):
        context = browser.new_context(viewport={"width": 1200, "height": 900}, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("request", lambda request: arguments.append(request.url))
        tab.on("console", lambda message: output.append(f"{message.type}: {message.text}"))
        tab.on("pageerror", lambda error: output.append(str(error)))
        tab.on("dialog", lambda dialog: output.append(dialog.message) or dialog.dismiss())
        tab.goto(path.as_uri())
        arguments.remove(path.as_uri())
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert arguments == [] and output == []


def draw_all(tab):
    """Bring every chart into sight, and wait until all are drawn by the script."""
    tab.evaluate("document.querySelectorAll('figure').forEach((one) => one.scrollIntoView())")
    for figure in tab.query_selector_all("figure"):
        figure.scroll_into_view_if_needed()
    tab.wait_for_function(DRAWN)


def column(tab, number):
    """The text of a column of the table of results, intervals and marks not included."""
    first = f"rows => rows.map(row => row.cells[{number}].firstChild.textContent.trim())"
    return tab.eval_on_selector_all("table.results tbody tr", first)


def test_all_charts_are_drawn_without_an_error_or_a_request(opened, page):
    tab = opened(page)
    draw_all(tab)
    assert tab.locator(".live svg").count() == tab.locator(".chart").count() > 8
    assert tab.locator(".still:visible").count() == 0


def test_what_is_said_of_many_algorithms_leaves_the_table_on_the_first_screen(opened, crowd):
    tab = opened(write_report(crowd))
    tab.set_viewport_size({"width": 1280, "height": 800})
    first = tab.locator("table.results tbody tr").first.bounding_box()
    assert first["y"] + first["height"] <= 800

    result = summaries(crowd.findings)
    paragraphs = {number: tab.locator(f"#finding-{number}") for number in range(1, len(result) + 1)}
    assert [item.is_visible() for item in paragraphs.values()] == [item.severity == "warning" for item in result]
    assert {item.severity for item in result} == {"warning", "note"}
    for number, item in enumerate(result, 1):
        marked = tab.locator("table.results tbody tr", has=tab.locator(f'a[href="#finding-{number}"]'))
        names = {text.partition("!")[0].partition("[")[0].strip() for text in marked.locator("th").all_inner_texts()}
        assert names == set(item.algorithms)
    tab.locator(f'table.results a[href="#finding-{len(result)}"]').first.click()  # opens what is folded
    paragraphs[len(result)].wait_for()
    tab.locator("#answer details summary").first.wait_for()
    for number, item in enumerate(result, 1):
        if item.severity == "note":
            assert all(name in paragraphs[number].inner_text() for name in item.algorithms)


@pytest.mark.parametrize(("width", "metrics"), [(1366, 4), (390, 2)])
def test_the_table_of_results_fits_and_its_headings_do_not_overlap(opened, page, width, metrics):
    tab = opened(page, java_script_enabled=False)
    tab.set_viewport_size({"width": width, "height": 768})
    heads = [head for head in tab.locator("table.results thead th").all() if head.is_visible()]
    boxes = [head.bounding_box() for head in heads]
    assert len(boxes) == 1 + metrics
    for box, after in pairwise(boxes):
        assert box["x"] + box["width"] <= after["x"] + 0.5
    assert boxes[-1]["x"] + boxes[-1]["width"] <= width
    overflows = "heads => heads.filter(head => head.scrollWidth > head.clientWidth + 1).length"
    assert tab.eval_on_selector_all("table.results thead th", overflows) == 0
    # The rest is one click away.
    folded = tab.locator("#results details").first
    assert not folded.locator("table").first.is_visible()
    folded.locator("summary").click()
    assert folded.locator("table:visible").count() == 4


def test_rows_are_sorted_by_click_and_by_keyboard(opened, page, finished):
    tab = opened(page)
    table = finished.table()
    head = tab.locator("table.results th", has_text="ndcg@5")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(tab, 0) == list(table["ndcg@5"].sort_values(ascending=False).index)
    head.get_by_role("button").press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert column(tab, 0) == list(table["ndcg@5"].sort_values().index)
    for _ in range(2):  # what has no number is last, whichever way
        tab.locator("table.results th", has_text="rmse").get_by_role("button").click()
        assert column(tab, 4)[-1] == "–"
    tab.locator("table.results th", has_text="algorithm").get_by_role("button").click()
    assert column(tab, 0) == sorted(table.index)
    assert head.get_attribute("aria-sort") is None


def test_the_journal_is_searched_and_opened(opened, page, finished):
    tab = opened(page)
    rows = tab.locator("#journal-table tbody tr")
    total = rows.count()
    tab.get_by_label("Search the journal").fill("cell.finished ITEM-KNN")
    tab.get_by_text(f"2 of {total} events").wait_for()
    shown = tab.locator("#journal-table tbody tr:visible")
    assert all("reference item-knn/" in text for text in shown.all_inner_texts())
    digest = finished.folder.joinpath("journal.jsonl").read_text().splitlines()[3].partition('"digest":"')[2][:64]
    tab.get_by_label("Search the journal").fill(f"data.prepared {digest}")  # only the line itself has all of it
    tab.get_by_text(f"1 of {total} events").wait_for()
    shown.get_by_role("button").click()
    tab.locator("#journal-table pre", has_text=digest).wait_for()
    tab.get_by_label("Search the journal").fill("")
    assert tab.locator("#journal-table tbody tr:visible").count() == total + 1


def test_the_command_to_replay_is_copied(opened, page):
    tab = opened(page, permissions=["clipboard-read", "clipboard-write"])
    tab.get_by_role("button", name="Copy").click()
    tab.get_by_text("Copied.").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()") == REPLAY == "repro replay . --into ../replayed"


def test_it_is_copied_where_pages_may_not_use_the_clipboard(opened, page):
    tab = opened(page, permissions=["clipboard-read"])
    tab.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')) }")
    tab.get_by_role("button", name="Copy").click()
    tab.get_by_text("Copied.").wait_for()
    assert tab.evaluate("navigator.clipboard.readText()") == REPLAY


def test_everything_is_there_without_scripts(opened, page, finished):
    tab = opened(page, java_script_enabled=False)
    assert tab.locator(".still svg:visible").count() == tab.locator(".chart").count() > 8
    assert tab.locator("table.results tbody tr").count() == 3
    events = len(finished.folder.joinpath("journal.jsonl").read_text().splitlines()) - 1
    assert tab.locator("#journal-table tbody tr").count() == events
    assert tab.locator("#copy:visible, .search:visible").count() == 0
    assert tab.locator("#replay").inner_text() == REPLAY


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("which", ["page", "hostile"])
def test_a_phone_scrolls_one_way(opened, request, which, scripts):
    tab = opened(request.getfixturevalue(which), java_script_enabled=scripts)
    tab.set_viewport_size({"width": 360, "height": 740})
    if scripts:
        draw_all(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") == 360


def test_charts_follow_the_width_of_the_screen(opened, page):
    tab = opened(page)
    draw_all(tab)
    tab.set_viewport_size({"width": 360, "height": 740})
    fits = "() => [...document.querySelectorAll('.live svg')].every((one) => one.getBoundingClientRect().width <= 340)"
    tab.wait_for_function(fits)


def test_dark_rooms_have_a_dark_page_and_light_charts_in_it(opened, page):
    tab = opened(page, color_scheme="light")
    draw_all(tab)
    colours = """() => [
        getComputedStyle(document.body).backgroundColor,
        ...[...document.querySelectorAll('.live text')].map((text) => getComputedStyle(text).fill),
    ]"""
    light = tab.evaluate(colours)
    tab.emulate_media(color_scheme="dark")
    dark = tab.evaluate(colours)
    assert len(light) == len(dark) > 50
    assert brightness(light[0]) > 200 > 60 > brightness(dark[0])
    assert max(map(brightness, light[1:])) < 90 and min(map(brightness, dark[1:])) > 160


def brightness(colour):
    red, green, blue = (float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3])
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_paper_shows_everything(opened, page):
    tab = opened(page)
    draw_all(tab)
    tab.get_by_label("Search the journal").fill("run.started")
    tab.emulate_media(media="print")
    charts = tab.locator(".chart").count()
    assert tab.locator(".still svg:visible").count() == charts and tab.locator(".live:visible").count() == 0
    assert tab.locator("#copy:visible, .search:visible, nav:visible").count() == 0
    assert tab.locator("details").count() == tab.locator("details[open]").count() > 2
    rows = tab.locator("#journal-table tbody tr")
    assert rows.count() == tab.locator("#journal-table tbody tr:visible").count() > 10
    tab.emulate_media(media="screen")
    tab.wait_for_function("() => !document.querySelector('details[open]')")


def test_nothing_of_the_data_runs(opened, hostile):
    tab = opened(hostile)
    draw_all(tab)
    for mark in tab.query_selector_all(".live path[aria-label], .live .mark-symbol path, .live .mark-rect path")[:40]:
        mark.hover(force=True)  # tooltips show names too
    tab.get_by_label("Search the journal").fill("onerror")
    tab.locator("#journal-table tbody tr:visible button").first.click()
    tab.locator("#journal-table pre", has_text="onerror").wait_for()
    tab.locator("table.results th").first.get_by_role("button").click()
    assert tab.evaluate("window.hacked") is None
    assert tab.locator("img").count() == 0
    assert EVIL[3] in tab.locator("h1").inner_text() and EVIL[0] in tab.locator("h1").inner_text()


def test_a_script_that_got_past_the_escaping_would_not_run(browser, hostile, tmp_path):
    broken = tmp_path / "broken.html"
    inside = (
        "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'><p onclick='window.hacked = 3'>p</p>"
    )
    broken.write_text(hostile.read_text().replace("<main>", f"<main>{inside}"))
    context = browser.new_context()
    refused = []
    tab = context.new_page()
    tab.on("console", lambda message: refused.append(message.text))
    tab.goto(broken.as_uri())
    tab.locator("main > p").first.click()
    assert tab.evaluate("window.hacked") is None
    context.close()
    assert sum("Content Security Policy" in text for text in refused) >= 3
