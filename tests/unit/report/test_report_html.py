from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
import synthetic_run

from plimsoll.errors import RunDirectoryError
from plimsoll.report.html import write_html

ATTACKS = {
    "create_issue": "</script><script>alert(1)</script>",
    "POST /api/drafts": '"><img src=x onerror=alert(1)>',
    "process:tracker": "process:</svg><svg onload=alert(1)>",
}


class Elements(HTMLParser):
    """Every element with its attributes, and the text outside of style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._silent = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._silent = tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._silent = False
        self.text += " "

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text += data


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a finished capacity run."""
    run_dir = synthetic_run.write_run(tmp_path_factory.mktemp("runs") / "run")
    return write_html(run_dir).read_text(encoding="utf-8")


def test_questions_and_answers_come_before_everything_else(page: str) -> None:
    text = Elements(page).text
    order = [
        "How much load does it carry?",
        "Carries 7,000 users",
        "Response time and CPU by load",
        "Operations at",
        "Steps",
    ]
    order += ["Over time", "Resources", "own health", "Workload", "Machines and versions", "Method and limits"]
    places = [text.index(words) for words in order]
    assert places == sorted(places)


def test_the_page_loads_nothing_from_anywhere(page: str) -> None:
    elements = Elements(page).elements
    for tag, attributes in elements:
        assert tag not in ("link", "iframe", "object", "embed")
        assert not {"src", "srcset"} & attributes.keys()
        assert not (attributes.get("href") or "#").startswith(("http", "//"))
    policy = next(a["content"] for _, a in elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "connect-src" not in policy


def test_every_chart_has_a_place_a_specification_and_a_drawing(page: str) -> None:
    found = re.search(r'<script type="application/json" id="chart-specifications">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    keys = list(json.loads(found[1]))
    assert keys[:3] == ["level-throughput", "level-response", "level-utilisation"]
    places = [a["id"] for tag, a in Elements(page).elements if tag == "div" and a.get("class") == "live"]
    assert keys == places
    assert len(re.findall(r'<div class="static"[^>]*><svg', page)) == len(keys)


def test_the_chart_library_is_inlined_once(page: str) -> None:
    assert page.count("window.vegaEmbed=") == 1
    assert len(page) < 3_000_000


def test_light_dark_and_print_are_looked_after(page: str) -> None:
    assert "@media (prefers-color-scheme: dark)" in page
    assert "@media print" in page
    assert '"dark"' in page


def test_objectives_are_judged_in_the_table_of_operations(page: str) -> None:
    text = " ".join(Elements(page).text.split())
    assert "p90 ≤ 100 ms" in text
    assert "met up to 4,000 users" in text
    assert "undecided" in text


def test_names_cannot_put_elements_into_the_page(tmp_path: Path) -> None:
    text = write_html(synthetic_run.write_run(tmp_path / "run", rename=ATTACKS)).read_text(encoding="utf-8")
    parsed = Elements(text)
    assert "img" not in [tag for tag, _ in parsed.elements]
    assert not [name for _, attributes in parsed.elements for name in attributes if name.startswith("on")]
    assert [tag for tag, _ in parsed.elements].count("script") == 4
    for attack in ATTACKS.values():
        assert attack in parsed.text


def test_a_killed_run_reports_what_was_measured(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run", status="running", findings=False, torn=True)
    text = " ".join(Elements(write_html(run_dir).read_text(encoding="utf-8")).text.split())
    assert "This run was killed" in text
    assert "What was measured?" in text
    assert "Carried so far 7,000 users" in text
    assert "Response time and CPU by load" in text


def test_a_run_killed_before_its_first_second_still_reports(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run", status="running", findings=False)
    for name in ("series.jsonl", "resources.jsonl", "events.jsonl"):
        (run_dir / name).write_text("", encoding="utf-8")
    text = write_html(run_dir).read_text(encoding="utf-8")
    assert "What was measured?" in text
    assert "vegaEmbed=" not in text


def test_findings_with_other_keys_or_none_at_all_are_shown(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run")
    findings = [{}, {"question": "Why?", "answer": "Because.", "valid": False, "reasons": ["The generator was full."]}]
    findings.append({"capacity": None, "objectives": None, "limited_by": None, "steps": None, "drift_per_hour": 0.5})
    (run_dir / "findings.json").write_text(json.dumps(findings), encoding="utf-8")
    text = Elements(write_html(run_dir).read_text(encoding="utf-8")).text
    for words in ("No answer was recorded.", "Because.", "Invalid.", "The generator was full.", "Drift per hour"):
        assert words in text


def test_a_run_without_a_study_or_a_script_reports(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run")
    manifest = json.loads((run_dir / "manifest.json").read_text(encoding="utf-8"))
    manifest |= {"study": None, "script": None, "level_unit": "vus", "options": {}}
    (run_dir / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    assert "7,000 VUs" in write_html(run_dir).read_text(encoding="utf-8")


def test_the_report_is_written_where_asked_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run")
    out = tmp_path / "out" / "answer.html"
    out.parent.mkdir()
    assert write_html(run_dir, out) == out
    assert list(out.parent.iterdir()) == [out]


def test_a_folder_that_does_not_exist_is_refused_with_the_next_step(tmp_path: Path) -> None:
    run_dir = synthetic_run.write_run(tmp_path / "run")
    with pytest.raises(RunDirectoryError, match="Name a file in a folder"):
        write_html(run_dir, tmp_path / "missing" / "report.html")


def test_importing_the_report_loads_no_heavy_library() -> None:
    heavy = "{'vl_convert', 'jinja2', 'numpy', 'pyarrow', 'rich'}"
    code = "import sys, plimsoll.report.html, plimsoll.report.text, plimsoll.report.json_out\n"
    code += f"print(sorted({heavy} & set(sys.modules)))"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
