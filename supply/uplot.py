"""uPlot, which draws the charts of the live page, as npm has it, into python/plimsoll/ui/static/.

    python supply/uplot.py        (`make uplot`)

The archive must have the checksum below, which is npm's own for that version. For another version, change both lines.
A test compares the files in the repository with FILES.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "1.6.32"
INTEGRITY = "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=="
STATIC = Path(__file__).parents[1] / "python" / "plimsoll" / "ui" / "static"
# What is taken of the archive, by the name that it has here, with the SHA-256 of each.
FILES = {
    "uPlot.iife.min.js": (
        "dist/uPlot.iife.min.js",
        "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f",
    ),
    "uPlot.min.css": (
        "dist/uPlot.min.css",
        "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
    ),
    "uPlot.LICENSE.txt": (
        "LICENSE",
        "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
    ),
}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="plimsoll-uplot-") as folder:
        command = ["npm", "pack", "--silent", f"uplot@{VERSION}"]
        name = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout.strip()
        archive = Path(folder) / name
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if f"sha512-{digest}" != INTEGRITY:
            sys.exit(f"uplot@{VERSION} has the checksum sha512-{digest}, and {INTEGRITY} is expected")
        with tarfile.open(archive) as packed:
            for own, (theirs, _) in FILES.items():
                file = packed.extractfile(f"package/{theirs}")
                assert file is not None
                (STATIC / own).write_bytes(file.read())
    print(f"{STATIC}: uPlot {VERSION}")


if __name__ == "__main__":
    main()
