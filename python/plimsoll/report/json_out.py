"""The findings of a run as JSON for machines: what the run directory holds, indented, in one list."""

from __future__ import annotations

import json
from pathlib import Path


def findings_json(run_dir: Path) -> str:
    """A JSON list, empty for a run that proved nothing; RunDirectoryError if `run_dir` is no run."""
    from plimsoll.report.run_evidence import read_findings

    return json.dumps(read_findings(Path(run_dir)), indent=2, ensure_ascii=False)
