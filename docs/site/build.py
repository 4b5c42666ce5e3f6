"""The docs site: copies the pages, builds them with MkDocs and looks that nothing is loaded from elsewhere.

    target/site-tools/bin/python docs/site/build.py    (`make docs-site`)

Pages are copied into one folder with the places that they have here, so that every link works on the site as it does
in the repository, and MkDocs checks each, anchors included. The site opens from the disk: target/site/index.html.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE, SITE = ROOT / "target" / "site-source", ROOT / "target" / "site"
PAGES = (
    "*.md",
    "docs/*.md",
    "docs/*.json",
    "docs/decisions/*.md",
    "docs/images/*",
    "docs/notebooks/*.ipynb",
    "docs/probes/*.md",
    "docs/site/*.css",
    "docs/site/*.js",
    "lab/*.md",
    "lab/docs/*.md",
    "lab/studies/*/README.md",
    "benches/gauntlet/README.md",
)
# What a browser loads by itself; a link that a reader follows is none of it.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc="?(?:https?:)?//[^\s">]+"""
    r"""|<link\b(?![^>]*\brel="?canonical)[^>]*\bhref="?(?:https?:)?//[^\s">]+"""
    r"""|@import\s+["']?(?:https?:)?//[^"'\s]+|url\(["']?(?:https?:)?//[^)]+""",
    re.IGNORECASE,
)


def main() -> None:
    copy()
    # Not --quiet, under which --strict counts no warnings.
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # the theme's advertisement
    done = subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--clean"], cwd=ROOT, env=quiet)
    if done.returncode:
        sys.exit("The docs site was not built: mend what is named above (a link, an anchor, a page without a place).")
    outside = loaded_from_elsewhere(SITE)
    if outside:
        sys.exit("The docs site loads from elsewhere:\n" + "\n".join(outside))
    print(f"{len(list(SITE.rglob('*.html')))} pages: {(SITE / 'index.html').relative_to(ROOT)}")


def copy() -> None:
    """The pages of the repository into the folder that MkDocs reads."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    for pattern in PAGES:
        for path in ROOT.glob(pattern):
            place = SOURCE / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)


def loaded_from_elsewhere(site: Path) -> list[str]:
    """Pages and style sheets of a site with what they load from another host."""
    found = []
    for path in sorted([*site.rglob("*.html"), *site.rglob("*.css")]):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(site)}: {match}" for match in LOADED.findall(text)]
    return found


if __name__ == "__main__":
    main()
