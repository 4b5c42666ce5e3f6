"""What a VU takes of memory, by the system's own account. The limit is loose: it shows when something that each VU pays
for grows by half, as when a large stack frame is inlined into what every request runs through."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SCRIPT = """import http from 'k6/http';
import { sleep } from 'k6';
export default function () { http.get(__ENV.URL); sleep(0.2); }
"""
FEW, MANY = 50, 450
MOST_KIB = 120


def peak_kib(folder: Path, url: str, vus: int) -> int:
    """The highest proportional set size of a run with so many VUs."""
    command = [sys.executable, "-m", "plimsoll", "run", "-q", "-u", str(vus), "-d", "2s", "-e", f"URL={url}", "idle.js"]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seen = [0]
    while run.poll() is None:
        try:
            text = Path(f"/proc/{run.pid}/smaps_rollup").read_text()
        except OSError:  # it ended meanwhile
            text = ""
        seen += [int(found) for found in re.findall(r"^Pss: +(\d+) kB", text, re.MULTILINE)]
        time.sleep(0.1)
    assert run.returncode == 0
    return max(seen)


def test_a_vu_takes_little_memory(tmp_path: Path, known_server: Callable[..., str]) -> None:
    (tmp_path / "idle.js").write_text(SCRIPT)
    url = f"{known_server('--site')}/status/200"
    each_kib = (peak_kib(tmp_path, url, MANY) - peak_kib(tmp_path, url, FEW)) / (MANY - FEW)
    assert 0 < each_kib < MOST_KIB, each_kib
