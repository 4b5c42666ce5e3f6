"""What `plimsoll run` must not import: each costs as much CPU as all the rest of a short run."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import plimsoll.runs
import plimsoll.study

OTHERS = ("capacity.finding", "capacity.further", "drain.finding", "grow", "trials.of_trials", "sizing.of_drain")
SCRIPT = "export default function () {}"
RUN = """import sys
from plimsoll.cli import main
sys.argv = ["plimsoll", "run", "-q", "script.js"]
try:
    main()
except SystemExit as end:
    heavy = ("numpy", "pyarrow", "rich", "yaml", "typer", "click", "pydantic", "plimsoll.study.models")
    print(end.code, *(name for name in heavy if name in sys.modules))
"""


def test_a_run_imports_no_tables_no_models_and_no_terminal_library(tmp_path: Path) -> None:
    (tmp_path / "script.js").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "-c", RUN], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "0", done.stdout


def test_the_findings_of_a_hold_import_no_other_experiment_s_and_no_tables() -> None:
    code = f"""import sys
import plimsoll.findings.of_run, plimsoll.findings.hold.finding, plimsoll.report.html, plimsoll.report.run_evidence
print(*(name for name in {OTHERS} if "plimsoll.findings." + name in sys.modules), "pyarrow" in sys.modules)"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]
    assert all(find_spec(f"plimsoll.findings.{name}") for name in OTHERS)


@pytest.mark.parametrize("package", [plimsoll.runs, plimsoll.study])
def test_what_a_package_exports_is_there_when_asked_for(package) -> None:
    for name in package.__all__:
        assert getattr(package, name).__name__ == name
    with pytest.raises(AttributeError, match="nothing_here"):
        package.nothing_here  # noqa: B018
