"""Nothing of a report is hidden, however narrow the window: measured in Chromium, with long names and wide tables."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import synthetic_run
from page_in_chromium import measured

from plimsoll.report.html import render
from plimsoll.report.run_evidence import read_run
from plimsoll.report.study_page import write_study_page

LONG_PROCESS = "process:an-application-server-with-a-name-of-more-than-sixty-characters-4711"
LONG_OPERATION = "create_an_issue_and_attach_everything_that_belongs_to_it_without_a_break"
LONG_WORD = "https://a-host.example/" + "segment-of-a-path" * 8
WIDTHS = [(390, False), (420, True), (800, False), (1200, False)]

MEASURE = """
async () => {
  %s
  const root = document.documentElement;
  const found = { beyond: [], cut: [], unreachable: [], lost_text: [], small_text: [], shortened: [], boxes: 0 };
  const name = (element) => {
    const part = element.closest("figure, section");
    const where = part ? part.getAttribute("aria-label") || part.id : "page";
    return `${where}: ${element.localName} "${element.textContent.trim().slice(0, 40)}"`;
  };
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const inBox = (element) => element !== null && (scrolls(element) || inBox(element.parentElement));
  const page = document.body.getBoundingClientRect();
  if (root.scrollWidth > root.clientWidth) found.beyond.push(`page: ${root.scrollWidth} px`);
  for (const element of document.body.querySelectorAll("*")) {
    const box = element.getBoundingClientRect();
    if (!box.width || !box.height) continue;
    if (element instanceof HTMLElement) {
      const outside = box.right > page.right + 1 || box.left < -1;
      if (outside && !inBox(element.parentElement)) found.beyond.push(name(element));
      const wider = element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1;
      if (wider && !scrolls(element)) found.cut.push(name(element));
      if (wider && scrolls(element)) {
        found.boxes += 1;
        const label = element.getAttribute("aria-label");
        const reached = element.tabIndex === 0 && element.getAttribute("role") === "region" && label;
        if (!reached) found.unreachable.push(name(element));
      }
    }
    if (element.localName === "text") {
      const frame = element.ownerSVGElement.getBoundingClientRect();
      const over = [frame.left - box.left, box.right - frame.right, frame.top - box.top, box.bottom - frame.bottom];
      if (Math.max(...over) > 1) found.lost_text.push(name(element));
      const matrix = element.getScreenCTM();
      const size = parseFloat(getComputedStyle(element).fontSize) * Math.hypot(matrix.a, matrix.b);
      if (size < 9) found.small_text.push(name(element));
      if (element.textContent.endsWith("…") && element.closest(".live")) {
        const inFull = element.closest("figure").querySelector(".in-full").textContent;
        if (!inFull.includes(element.textContent.slice(0, -1))) found.shortened.push(name(element));
      }
    }
  }
  return found;
}
"""
# The window becomes narrow after the charts are drawn; what holds them is what they measure.
NARROWER = """
  document.body.style.width = "420px";
  window.dispatchEvent(new Event("resize"));
  await new Promise((resolve) => setTimeout(resolve, 1500));
"""
LEGENDS = """
() => Object.fromEntries([...document.querySelectorAll(".live")].map((live) => {
  const places = [...live.querySelectorAll(".role-legend-label text")].map((text) => text.getBoundingClientRect().top);
  return [live.id, [places.length, new Set(places.map(Math.round)).size]];
}))
"""


def hard_run(folder: Path) -> str:
    """A capacity run whose names, unit, answer and table of a finding are longer than a narrow page."""
    rename = {"process:tracker": LONG_PROCESS, "create_issue": LONG_OPERATION}
    run_dir = synthetic_run.write_run(folder / "run", rename=rename)
    run = read_run(run_dir)
    run.manifest["level_unit"] = "× the declared load"
    finding: dict[str, Any] = dict(run.findings[0])
    finding["capacity"] |= {"good": 4000, "bad": 4300, "knee": 4400}
    finding["answer"] += " " + LONG_WORD
    finding["evidence"] = [LONG_WORD]
    finding["tables"] = [{"title": "Wide", "columns": ["A wide column"] * 9, "rows": [["one long cell"] * 9]}]
    return render(replace(run, findings=[finding]))


def sweep_of_two_parameters(folder: Path) -> str:
    """A sweep with a table of durations, whose cells say more than a narrow page has room for."""
    run = read_run(synthetic_run.write_run(folder / "sweep"))
    cells = [
        {
            "parameters": {"ITEMS": str(items), "SIZE": str(size)},
            "work_ms": 1.7 * items * size,
            "p95_ms": 2.0 * items * size,
            "memory_bytes": None,
            "done_per_s": 9.0,
            "failed_share": 0.2,
            "trials": 3,
            "state": "fails",
        }
        for items in range(1, 8)
        for size in (1, 2, 3)
    ]
    plan = {"experiment": "sweep", "analysis": {"over": ["ITEMS", "SIZE"]}, "variants": []}
    return render(replace(run, plan=plan, findings=[{"experiment": "sweep", "cells": cells}]))


def comparison(folder: Path) -> str:
    """A comparison of operations with long names."""
    run = read_run(synthetic_run.write_run(folder / "compare"))
    comparisons = [
        {
            "operation": operation,
            "statistic": statistic,
            "load": f"{load} VUs",
            "primary": load == 50,
            "ratio": 1.2,
            "interval": [1.1, 1.3],
            "confidence": 0.95,
            "verdict": "slower",
            "unit": "ms",
            "a": 10.0,
            "b": 12.0,
            "pairs": 6,
        }
        for operation in (None, LONG_OPERATION)
        for statistic in ("p50", "throughput")
        for load in (50, 100, 200)
    ]
    pairs = [
        {"repetition": place, "ratio": 1.1, "statistic": "p50", "load": f"{load} VUs"}
        for place in (1, 2, 3)
        for load in (50, 100, 200, 400)
    ]
    variants = [{"name": "a", "label": "old"}, {"name": "b", "label": LONG_WORD}]
    plan = {"experiment": "compare", "analysis": {"margin": 0.05}, "variants": variants}
    finding = {"experiment": "compare", "comparisons": comparisons, "pairs": pairs}
    return render(replace(run, plan=plan, findings=[finding]))


def layers(folder: Path) -> str:
    """A decomposition into layers with long names."""
    run = read_run(synthetic_run.write_run(folder / "decompose"))
    names = ["the application without its database", "the database", "the network between the two", "the rest"]
    layer = {"share": 0.25, "interval": [0.2, 0.3], "ms": 3.0, "verdict": "there"}
    levels = [
        {"load": f"{load} × declared load", "layers": [{**layer, "layer": name} for name in names]} for load in (1, 2)
    ]
    plan = {"experiment": "decompose", "analysis": {"parts": False}, "variants": []}
    return render(replace(run, plan=plan, findings=[{"experiment": "decompose", "levels": levels}]))


def study_page(folder: Path) -> str:
    """The page of a study with a long answer."""
    parts = [{"place": 1, "experiment": "capacity", "of": [LONG_OPERATION], "answer": LONG_WORD, "status": "finished"}]
    more = {"planned": "5 min", "problem": None, "report": "run/report.html", "report_before": None, "run": LONG_WORD}
    folder = folder / "study"
    folder.mkdir()
    findings = {1: [{"question": "How much?", "answer": LONG_WORD, "next": [LONG_WORD]}]}
    return write_study_page(folder, {"name": "A study"}, [parts[0] | more], findings).read_text(encoding="utf-8")


MAKERS = {make.__name__: make for make in (hard_run, sweep_of_two_parameters, comparison, layers, study_page)}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("pages")
    return {name: make(folder) for name, make in MAKERS.items()}


def hidden(result: dict[str, Any], drawn: bool = True) -> dict[str, list[str]]:
    """What a reader cannot see, or cannot reach, by kind; `drawn` is whether a script had to draw the charts."""
    assert result["drawn"] == drawn
    found = dict(result["found"])
    assert found.pop("boxes") >= 0
    return {kind: names for kind, names in found.items() if names}


@pytest.mark.parametrize(("width_px", "dark"), WIDTHS)
@pytest.mark.parametrize("name", MAKERS)
def test_nothing_is_wider_than_the_page_but_in_a_box_that_mouse_and_keyboard_scroll(
    pages: dict[str, str], name: str, width_px: int, dark: bool, tmp_path: Path
) -> None:
    found = measured(pages[name], MEASURE % "", tmp_path, width_px, dark)
    assert hidden(found) == {}
    if width_px < 500:
        assert found["found"]["boxes"] > 0  # else nothing was wide, and nothing was tested


def test_a_chart_drawn_in_a_wide_window_fits_the_narrow_one_that_it_becomes(
    pages: dict[str, str], tmp_path: Path
) -> None:
    assert hidden(measured(pages["hard_run"], MEASURE % NARROWER, tmp_path, 1200)) == {}


def test_without_scripts_drawings_scroll_rather_than_become_too_small_to_read(
    pages: dict[str, str], tmp_path: Path
) -> None:
    page = pages["hard_run"].replace("draw();\n})();", "})();")
    found = measured(page, MEASURE % "", tmp_path, 420)
    assert hidden(found, drawn=False) == {}


def test_short_names_stand_side_by_side_where_the_page_is_wide(tmp_path: Path) -> None:
    page = render(read_run(synthetic_run.write_run(tmp_path / "run")))
    wide, narrow = (measured(page, LEGENDS, tmp_path, width_px)["found"] for width_px in (1200, 420))
    assert wide["level-response"][1] == 2, wide  # two lines of names: series, and verdicts
    assert wide["resources-cpu"] == [3, 1]
    assert narrow["level-response"][1] > 2


def test_boxes_are_named_by_what_they_hold(pages: dict[str, str]) -> None:
    boxes = re.findall(r"<div ([^>]*class=\"scroll\"[^>]*)>", pages["hard_run"])
    assert len(boxes) >= 5
    for attributes in boxes:
        assert 'role="region"' in attributes
        assert 'tabindex="0"' in attributes
        assert re.search(r'aria-label="[^"]+"', attributes)
    assert any('aria-label="Steps"' in attributes for attributes in boxes)
