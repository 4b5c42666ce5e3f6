"""The notebook of the docs runs as it stands, and what it shows is what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

NOTEBOOK = Path(__file__).parents[3] / "docs/notebooks/first-answer.ipynb"


def code_cells() -> list[str]:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.timeout(200)
def test_the_notebook_runs_from_top_to_bottom(
    tmp_path: Path, known_server: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("URL", known_server("--servers", 2, "--service-ms", 20))
    names: dict[str, Any] = {}
    for cell in code_cells():
        exec(compile(cell.replace('for_="2m"', 'for_="45s"'), str(NOTEBOOK), "exec"), names)
    answer, charts, tables = names["answer"], names["charts"], names["tables"]
    assert answer._repr_markdown_().startswith("## How much load does it carry?\n\n")
    assert answer.findings[0]["answer"].split(";")[0] in answer._repr_markdown_().replace("\\", "")
    assert charts["level-throughput"].to_dict()["title"] == "Throughput over the load"
    assert tables["seconds"].num_rows == max(tables["seconds"]["second"].to_pylist()) + 1
    assert {"host", "generator"} <= set(tables["resources"]["source"].to_pylist())


def test_what_it_shows_is_kept_in_it() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert not [one for one in outputs if one["output_type"] in ("error", "stream")]
    kinds = {kind for one in outputs for kind in one.get("data", {})}
    assert {"text/markdown", "image/svg+xml"} <= kinds
    assert "cdn." not in NOTEBOOK.read_text(encoding="utf-8")
