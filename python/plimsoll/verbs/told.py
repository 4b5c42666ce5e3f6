"""What a verb found, as a terminal and a notebook show it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.report.screen import screen_of_run


@dataclass(frozen=True)
class Told:
    """Findings as plain data (docs/findings.md), and where the run and its report lie."""

    findings: list[dict[str, Any]]
    run_directory: Path
    report: Path | None

    def __str__(self) -> str:
        """The answer on one screen."""
        return screen_of_run(self.findings, self.run_directory, self.report)

    def _repr_markdown_(self) -> str:
        """The answers, for Jupyter."""
        from plimsoll.report.written.markdown import findings_markdown  # numpy and Jinja2 take 0.2 s to import

        return findings_markdown(self.findings)
