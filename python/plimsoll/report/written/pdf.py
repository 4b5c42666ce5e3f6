"""The report of a run as PDF: its page, printed by the Chromium that is on this machine."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from plimsoll.errors import InputError, RunDirectoryError

PROGRAMS = (
    "chromium-headless-shell", "/usr/lib/chromium/chromium-headless-shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "microsoft-edge",
)  # fmt: skip
LONGEST_S = 120.0
_DRAWS_FOR_MS = 20_000  # of the page's own time: charts are drawn before it is printed


def print_pdf(page: str) -> bytes:
    """The PDF of a page. InputError where there is no Chromium, RunDirectoryError where it makes none."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        raise InputError(
            "A PDF is printed by Chromium, and there is none on this machine",
            "Install it (Debian: chromium-headless-shell), or write an .html and print that in any browser.",
        )
    with tempfile.TemporaryDirectory(prefix="plimsoll-pdf-") as name:
        folder = Path(name)
        source, written = folder / "report.html", folder / "report.pdf"
        source.write_text(page, encoding="utf-8")
        command = [
            program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-pdf-header-footer",
            f"--user-data-dir={folder / 'profile'}", f"--virtual-time-budget={_DRAWS_FOR_MS}",
            f"--print-to-pdf={written}", source.as_uri(),
        ]  # fmt: skip
        why = _run(command)
        if not written.is_file() or not written.stat().st_size:
            raise RunDirectoryError(
                f"{Path(program).name} printed no PDF{f': {why}' if why else ''}",
                "Write an .html with -o and print that in a browser.",
            )
        return written.read_bytes()


def _run(command: list[str]) -> str:
    """Runs it; the last line of what it said, where it failed."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        return f"it did not end within {LONGEST_S:g} s"
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    return lines[-1] if done.returncode and lines else ""
