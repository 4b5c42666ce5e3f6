"""The study and the load script for the inventory that serves, beside its users.json and keywords.json.

    plimsoll lab inventory                         serves, and writes DIR/study.yaml, DIR/inventory.js
    plimsoll sweep .lab/inventory/study.yaml       in another terminal

How, and when they are left alone: plimsoll_lab/load_files.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plimsoll_lab.load_files import first_line, write_study

LOAD = Path(__file__).parent / "load"
OURS = first_line("inventory")
TEMPLATE_URL = "http://127.0.0.1:8720"
TEMPLATE_PORTS = {"storage": 8721, "search": 8722, "users": 8723}
TEMPLATE_INSTANCES = 20_000
TEMPLATE_SIZES = "SIZE: [500, 2000, 8000]"
SHARES = (0.025, 0.1, 0.4)  # of the instances: shares that seed.TOPICS has


def write_load_files(directory: Path, url: str, ports: Mapping[str, int], instances: int) -> Path:
    """Write study and script for the inventory at `url`, whose modules have those ports; returns the study's path."""
    sizes = [max(1, round(instances * share)) for share in SHARES]
    changes = {
        TEMPLATE_URL: url,
        **{f"label: {one}, port: {TEMPLATE_PORTS[one]}": f"label: {one}, port: {port}" for one, port in ports.items()},
        TEMPLATE_SIZES: f"SIZE: {sizes}",
        "env: {SIZE: 2000}": f"env: {{SIZE: {sizes[1]}}}",
    }
    return write_study(directory, "inventory", LOAD, ("inventory.js",), changes)
