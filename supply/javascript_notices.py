"""javascript-notices.txt: the JavaScript packages in the charts of a report, with their licences.

    python supply/javascript_notices.py        (`make notices-javascript`)

vl-convert bundles them without their notices. npm installs the versions of Vega, Vega-Lite, Vega-Embed and its
themes that vl-convert names into a folder that is thrown away, and the licence files of all that come with them are
put together.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path

import vl_convert
from notices import JAVASCRIPT, NAMES

HEAD = "The charts of a report are drawn by the packages below, as vl-convert-python {release} bundles them: {wanted}."
# Types, and what the packages' command lines need: no part of a page.
NOT_IN_A_PAGE = (
    "@types/", "ansi-", "cliui", "commander", "emoji-regex", "escalade", "get-caller-file", "get-east-asian-width",
    "iconv-lite", "rw", "safer-buffer", "string-width", "strip-ansi", "vega-typings", "wrap-ansi", "y18n", "yargs",
)  # fmt: skip


def main() -> None:
    wanted = [
        f"vega@{vl_convert.get_vega_version()}",
        f"vega-lite@{vl_convert.get_vegalite_versions()[-1]}",
        f"vega-embed@{vl_convert.get_vega_embed_version()}",
        f"vega-themes@{vl_convert.get_vega_themes_version()}",
    ]
    with tempfile.TemporaryDirectory(prefix="plimsoll-notices-") as folder:
        command = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--no-fund", "--omit=dev", *wanted]
        subprocess.run(command, cwd=folder, check=True)
        packages = sorted(_packages(Path(folder) / "node_modules"))
    names: dict[str, list[str]] = {}  # of the packages with that text
    for name, licence, text in packages:
        names.setdefault(text, []).append(f"{name}: {licence}")
    head = HEAD.format(release=version("vl-convert-python"), wanted=", ".join(wanted))
    parts = [head, *("\n".join(of) + f"\n\n{text}" for text, of in names.items())]
    JAVASCRIPT.write_text("\n\n----\n".join(parts) + "\n", encoding="utf-8")
    print(f"{JAVASCRIPT.name}: {len(packages)} packages")


def _packages(modules: Path) -> set[tuple[str, str, str]]:
    """(name, licence, text) of each. Versions of those that come along are not told: npm chooses them anew."""
    found = set()
    for manifest in modules.rglob("package.json"):
        folder = manifest.parent
        if folder.parent.name != "node_modules" and not folder.parent.name.startswith("@"):
            continue
        told = json.loads(manifest.read_text(encoding="utf-8"))
        if str(told["name"]).startswith(NOT_IN_A_PAGE):
            continue
        files = [file for file in sorted(folder.iterdir()) if file.is_file() and file.name.upper().startswith(NAMES)]
        texts = ["\n".join(file.read_text(encoding="utf-8").split("\r\n")).strip() for file in files]
        found.add((told["name"], str(told.get("license")), "\n\n".join(texts) or f"By {told.get('author')}."))
    return found


if __name__ == "__main__":
    main()
