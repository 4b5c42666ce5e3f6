"""The study and the load script for the configurations that serve, beside their users.json
(plimsoll_lab/load_files.py).

plimsoll lab configurations                          serves, and writes DIR/study.yaml, DIR/configurations.js
plimsoll capacity .lab/configurations/study.yaml     in another terminal
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plimsoll_lab.load_files import write_study

LOAD = Path(__file__).parent / "load"
SCRIPT = "configurations.js"
TEMPLATE_URL = "http://127.0.0.1:8760"
TEMPLATE_PORTS = {"gc": 8761, "rm": 8762, "qm": 8763, "cm": 8764, "jts": 8765}


def write_load_files(directory: Path, url: str, ports: Mapping[str, int]) -> Path:
    """Write study and script for the configurations at `url` and these ports; returns the study's path."""
    changes = {
        f"label: {label}, port: {TEMPLATE_PORTS[label]}": f"label: {label}, port: {port}"
        for label, port in ports.items()
    }
    return write_study(directory, "configurations", LOAD, [SCRIPT], {TEMPLATE_URL: url, **changes})
