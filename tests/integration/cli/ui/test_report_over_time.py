"""The report in a browser: charts over time zoom together, tables are sorted and copied, and everybody can use it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from live_page import OpenPage, Watched, violated
from playwright.sync_api import Locator, Page, expect

from plimsoll.report.html import write_html
from plimsoll.report.run_evidence import RunEvidence, read_run
from plimsoll.words import number

sys.path.insert(0, str(Path(__file__).parents[3] / "unit" / "report"))

import synthetic_run

LASTED_S = 100
MOMENT_S = 47


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a capacity run with a note, whose target calls a database."""
    run_dir = synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "run", rename={"view_issue": "=cmd, or 'view'"})
    (run_dir / "notes.jsonl").write_text('{"t_unix": 1790000040.0, "second": 40.0, "text": "<b>a deploy</b>"}\n')
    app = {"connections_in": 12, "connections_to_127.0.0.1:5432": 9, "awaiting_127.0.0.1:5432": 8}
    app["answered_by_127.0.0.1:5432"] = 1
    seen = {"sockets:app": app, "sockets:db": {"connections_in": 9, "listens_on_5432": 1}}
    with (run_dir / "resources.jsonl").open("a") as file:
        for second in range(LASTED_S):
            for source, values in seen.items():
                file.write(json.dumps({"t_unix": 0, "second": second, "source": source, "values": values}) + "\n")
    return write_html(run_dir)


@pytest.fixture(scope="module")
def run(report: Path) -> RunEvidence:
    return read_run(report.parent)


def opened(open_page: OpenPage, report: Path, width: int = 1440, dark: bool = False) -> Watched:
    seen = open_page(report.as_uri(), width=width, dark=dark)
    expect(seen.page.locator("html")).to_have_class("drawn")
    expect(seen.page.locator("#generator-lag svg")).to_be_visible()
    return seen


def values(page: Page, key: str) -> Locator:
    """What stands over a chart of the moment that is pointed at."""
    return page.locator(f"figure:has(#{key}) .values")


def draw_over(page: Page, key: str, from_s: float, to_s: float) -> None:
    """Draws from one second to another, which the plot's own ends say the places of."""
    page.locator(f"#{key}").evaluate("(one) => one.scrollIntoView({ block: 'center' })")  # not behind the buttons
    box = page.locator(f"#{key} svg .background").first.bounding_box()
    assert box is not None
    place = lambda second: box["x"] + box["width"] * second / LASTED_S  # noqa: E731
    y = box["y"] + box["height"] / 2
    page.mouse.move(place(from_s), y)
    page.mouse.down()
    page.mouse.move(place(to_s), y, steps=4)
    page.mouse.up()


def first_ticks(page: Page) -> list[float]:
    """The first number of the time axis of each chart over time."""
    ticks: list[float] = page.evaluate(
        """() => [...document.querySelectorAll("#time .live, #resources .live")].map((live) =>
             Number(live.querySelector(".role-axis-label text").textContent))"""
    )
    return ticks


def test_drawing_over_one_chart_zooms_all_of_them(open_page: OpenPage, report: Path, run: RunEvidence) -> None:
    seen = opened(open_page, report)
    page = seen.page
    shown = page.locator('[data-part="range"]')
    expect(shown).to_have_text("the whole run")
    draw_over(page, "time-throughput", 40, 60)
    expect(shown).to_have_text("40 s to 60 s")
    assert first_ticks(page) == [40] * len(first_ticks(page))

    bin_of_moment = run.timeline.at(MOMENT_S)
    p50, p95, p99 = bin_of_moment.times.percentiles_ms((0.5, 0.95, 0.99))
    page.get_by_label("Read at").focus()
    page.get_by_label("Read at").evaluate(
        "(slider, second) => { slider.value = second + 0.5; slider.dispatchEvent(new Event('input')); }", MOMENT_S
    )
    expect(values(page, "time-throughput")).to_have_text(
        f"planned {bin_of_moment.planned:.0f} · done {bin_of_moment.done:.0f}"
    )
    for name, value in (("p50 (median)", p50), ("p95", p95), ("p99", p99)):
        assert value is not None
        expect(values(page, "time-response")).to_contain_text(f"{name} {number(value)}")
    expect(values(page, "time-spread")).to_contain_text(f"{bin_of_moment.times.count} requests")
    page.keyboard.press("ArrowRight")
    expect(page.locator('[data-part="at"]')).to_have_text("48 s")

    page.get_by_role("button", name="Earlier").click()
    expect(shown).to_have_text("30 s to 50 s")
    page.get_by_role("button", name="Whole run").click()
    expect(shown).to_have_text("the whole run")
    draw_over(page, "time-spread", 28, 52)
    expect(shown).to_have_text("28 s to 52 s")
    draw_over(page, "time-events", 50, 50)  # no way at all: the pointer alone
    expect(values(page, "time-events")).to_contain_text("Remarks: <b>a deploy</b>")
    page.locator("#time-level").dblclick()
    expect(shown).to_have_text("the whole run")
    assert seen.wrong == []


def test_a_theme_that_changes_keeps_what_is_shown(open_page: OpenPage, report: Path) -> None:
    seen = opened(open_page, report)
    draw_over(seen.page, "time-throughput", 40, 60)
    expect(seen.page.locator('[data-part="range"]')).to_have_text("40 s to 60 s")
    seen.page.emulate_media(color_scheme="dark")
    seen.page.wait_for_timeout(1000)
    assert set(first_ticks(seen.page)) == {40}
    assert seen.wrong == []


def test_a_table_is_sorted_by_click_and_key_and_copied_as_csv(
    open_page: OpenPage, report: Path, run: RunEvidence
) -> None:
    seen = opened(open_page, report)
    page = seen.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    table = page.get_by_role("region", name="Requests at 7,000 users").locator("table")
    part = page.locator(".with-tools").filter(has=page.get_by_role("heading", name="Requests at 7,000 users"))
    names = lambda: table.locator("tbody th").all_inner_texts()  # noqa: E731
    before = names()
    assert before == sorted(before)
    header = table.get_by_role("columnheader", name="Count")
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    counts = [int(text.replace(",", "")) for text in table.locator("tbody td:nth-child(2)").all_inner_texts()]
    assert counts == sorted(counts, reverse=True) and len(set(counts)) > 2
    header.get_by_role("button").press("Enter")
    assert header.get_attribute("aria-sort") == "ascending" and names()[-1] != before[-1]
    table.get_by_role("columnheader", name="Name").get_by_role("button").press("Space")
    assert names() == before and header.get_attribute("aria-sort") is None

    part.get_by_role("button", name="Copy as CSV").click()
    expect(part.get_by_role("status")).to_have_text("Copied 5 rows.")
    head, *lines = page.evaluate("navigator.clipboard.readText()").strip().split("\n")
    assert head == "name,count,per_s,failed_requests,avg_ms,min_ms,p50_ms,p90_ms,p95_ms,p99_ms,max_ms"
    steps = [step for step in run.steps if step.level == 7000 and step.verdict != "probe"]
    first = steps[0].requests["GET /api/issues/:id"]
    first.merge(steps[1].requests["GET /api/issues/:id"])
    [line] = [line for line in lines if line.startswith("GET /api/issues/:id,")]
    numbers = [float(text) for text in line.split(",")[1:]]
    percentiles = first.times.percentiles([0.5, 0.9, 0.95, 0.99]).tolist()
    expected = [first.count, first.count / 20, first.failed, first.times.mean, first.times.min]
    assert numbers == pytest.approx([*expected, *percentiles, first.times.max], rel=1e-6)

    operations = page.locator(".with-tools").filter(has=page.get_by_role("heading", name="Operations at 7,000 users"))
    operations.get_by_role("button", name="Copy as CSV").click()
    expect(operations.get_by_role("status")).to_have_text("Copied 4 rows.")
    assert "\"'=cmd, or 'view'\"," in page.evaluate("navigator.clipboard.readText()")  # no formula of a spreadsheet
    assert seen.wrong == []


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False), (390, True)])
def test_everybody_can_use_the_report(open_page: OpenPage, report: Path, axe: str, width: int, dark: bool) -> None:
    """By axe's rules, unfolded and zoomed, and nothing wider than the window."""
    seen = opened(open_page, report, width, dark)
    seen.page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    expect(seen.page.get_by_role("figure", name="Who calls whom")).to_contain_text("89% wait for an answer")
    assert violated(seen.page, axe) == []
    seen.page.get_by_role("button", name="Zoom in").click()
    expect(seen.page.locator('[data-part="range"]')).to_have_text("25 s to 75 s")
    assert violated(seen.page, axe) == []
    assert seen.page.evaluate("document.documentElement.scrollWidth") == width
    assert seen.wrong == []


@pytest.mark.parametrize("width", [1440, 390])
def test_plots_stand_above_one_another(open_page: OpenPage, report: Path, width: int) -> None:
    """To the pixel, whatever stands left of them."""
    seen = opened(open_page, report, width)
    ends = seen.page.evaluate(
        """() => [...document.querySelectorAll("#time .live")].map((live) => {
             const box = live.querySelector(".background").getBoundingClientRect();
             return [box.left, box.right];
           })"""
    )
    assert len(ends) == 10 and all(one == ends[0] for one in ends)
