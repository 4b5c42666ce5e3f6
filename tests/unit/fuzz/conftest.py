"""A folder with a script and a study of all kinds of things, and what stands in for starting anything."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "report"))

SCRIPT = """import http from 'k6/http';
const a = { executor: 'constant-arrival-rate', rate: 5, duration: '1s', preAllocatedVUs: 1 };
export const options = { scenarios: { a } };
export default function () {}
export function create() {}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder of the test, with script.js and study.yaml."""
    import yaml
    from whole_study import STUDY

    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "script.js").write_text(SCRIPT)
    (inner / "study.yaml").write_text(yaml.safe_dump(STUDY))
    monkeypatch.chdir(inner)
    return inner
