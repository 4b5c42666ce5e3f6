"""A page as Chromium lays it out: what a script in a copy of the page measures, at a width and in a theme."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium-headless-shell", "/usr/lib/chromium/chromium-headless-shell", "chromium", "google-chrome")
MISSING = "There is no Chromium on this machine. Debian's package is chromium-headless-shell."
HEIGHT_PX = 900
# Static pages may run no script; the copy may.
NO_SCRIPT, SCRIPT = "default-src 'none'; style-src", "default-src 'none'; script-src 'unsafe-inline'; style-src"
# Waits until each chart is drawn, then unfolds what is folded, as a reader can, and runs the measurement.
WAITING = """
<script>
window.addEventListener("load", () => {
  const finish = (found) => {
    const place = document.createElement("pre");
    place.id = "measured";
    place.textContent = JSON.stringify(found);
    document.body.replaceChildren(place);
  };
  const drawn = () => [...document.querySelectorAll(".live")].every((live) => live.querySelector("svg"));
  const scripted = Boolean(document.getElementById("chart-specifications"));
  let tries = 200;
  const look = () => {
    if (scripted && !drawn() && --tries > 0) return setTimeout(look, 50);
    document.querySelectorAll("details").forEach((one) => { one.open = true; });
    setTimeout(async () => {
      try {
        const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
        finish({ width: window.innerWidth, dark, drawn: drawn(), found: await (%s)() });
      }
      catch (error) { finish({ error: String(error) }); }
    }, 200);
  };
  look();
});
</script>
"""


def measured(page: str, script: str, folder: Path, width_px: int, dark: bool = False) -> Any:
    """What `script`, a JavaScript function, returns in `page` at that width; skipped aloud without Chromium."""
    program = next((found for name in PROGRAMS if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(MISSING)
    copy = folder / f"page-{width_px}{'-dark' if dark else ''}.html"
    body, end = page.replace(NO_SCRIPT, SCRIPT).rsplit("</body>", 1)
    copy.write_text(body + WAITING % script + "</body>" + end, encoding="utf-8")
    done = subprocess.run(
        [
            program,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"),
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width_px},{HEIGHT_PX}",
            f"--blink-settings=preferredColorScheme={0 if dark else 1}",
            *("--virtual-time-budget=30000", "--dump-dom", copy.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    match = re.search(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    assert match is not None, f"nothing was measured: {done.stdout[-500:]} {done.stderr[-2000:]}"
    result = json.loads(html.unescape(match[1]))
    assert "error" not in result, result
    assert (result["width"], result["dark"]) == (width_px, dark)
    return result
