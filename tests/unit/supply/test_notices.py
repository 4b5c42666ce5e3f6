"""Whose code is in the wheel stands in THIRD-PARTY-NOTICES.txt, which the wheel contains."""

from __future__ import annotations

import hashlib
import re
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "supply"))
from linked_crates import Crate, linked_crates
from notices import JAVASCRIPT, NOTICES, javascript, licence_texts, notices
from uplot import FILES, STATIC, VERSION

from plimsoll.report.charts import javascript_notices

ROOT = Path(__file__).parents[3]


def test_every_crate_that_is_linked_stands_in_the_notices_with_a_text() -> None:
    text, crates = NOTICES.read_text(), linked_crates()
    assert len(crates) > 100 and {"rquickjs-sys", "rustls", "tokio"} <= {crate.name for crate in crates}
    locked = {(one["name"], one["version"]) for one in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}
    assert {(crate.name, crate.version) for crate in crates} <= locked
    for crate in crates:
        (line,) = re.findall(rf"^{re.escape(crate.name)} {re.escape(crate.version)}: .*$", text, re.MULTILINE)
        numbers = re.findall(r"\[(\d+)\]", line)
        assert numbers and all(f"\n[{number}]\n\n" in text for number in numbers), line


def test_the_notices_are_as_make_notices_writes_them() -> None:
    written = notices(linked_crates(), javascript())
    assert NOTICES.read_text() == written, "run `make notices`"


def test_c_libraries_and_javascript_stand_there_too() -> None:
    text = NOTICES.read_text()
    for words in (
        "quickjs/LICENSE",
        "zstd/LICENSE",
        "mimalloc",
        "Fabrice Bellard",
        "vega-lite",
        "Interactive Data Lab",
        "Leon Sorokin",
    ):
        assert words in text, words


def test_a_crate_without_a_licence_file_gets_the_standard_text_with_its_authors(tmp_path: Path) -> None:
    crate = Crate("bare", "1.0.0", "GPL-3.0-only/MIT", ("A. Nobody",), tmp_path)
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "COPYING").write_text("of the C part\n")
    texts = licence_texts(crate)
    assert texts["c/COPYING"] == "of the C part"
    assert "A. Nobody" in texts["standard text"] and "Permission is hereby granted" in texts["standard text"]


def test_the_wheel_takes_the_notices_along() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"LICENSE", "THIRD-PARTY-NOTICES.txt"} <= set(project["license-files"])


def test_reports_carry_the_notices_of_the_javascript_in_them() -> None:
    comment = javascript_notices()
    assert comment.startswith("/*!") and comment.count("*/") == 1 and comment.rstrip().endswith("*/")
    assert "University of Washington" in comment and "</script" not in comment


def test_the_javascript_notices_are_of_the_locked_vl_convert() -> None:
    locked = re.search(r"^vl-convert-python==(\S+)", (ROOT / "supply/locks/runtime.txt").read_text(), re.MULTILINE)
    assert locked and f"vl-convert-python {locked[1]} " in JAVASCRIPT.read_text(), "run `make notices-javascript`"


def test_uplot_is_as_npm_has_it() -> None:
    """What is served to browsers is what was looked at: `make uplot` brings these very files."""
    for own, (_, sha256) in FILES.items():
        assert hashlib.sha256((STATIC / own).read_bytes()).hexdigest() == sha256, own
    assert f"(v{VERSION})" in (STATIC / "uPlot.iife.min.js").read_text().splitlines()[0]
