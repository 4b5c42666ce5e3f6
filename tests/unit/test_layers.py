"""What the import linter cannot see: the native module has one importer."""

from __future__ import annotations

import re
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "plimsoll"


def test_only_engine_py_imports_the_native_module() -> None:
    pattern = re.compile(r"^\s*(from|import)\s.*\b_engine\b", re.MULTILINE)
    importers = [
        path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py") if pattern.search(path.read_text())
    ]
    assert importers == ["engine.py"]
