"""Cores to which some of the target's processes are bound and others are not: each such set is full by itself.

A front on one core and its database on another fill half of the two together, however full the database's is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from plimsoll.findings.limits.limit import NEAR_CEILING, Limit, Scope
from plimsoll.findings.resources import LEAST_OWN, TARGET_CORES, Means, processes
from plimsoll.words import number, share_words

_OF = re.compile(r"core_(\d+)_of_(.+)")


def full_sets(here: Means, low: Means, words: str, before: str) -> Iterator[Limit]:
    """Those near their end that are full of the work of their own processes."""
    bound: dict[str, set[int]] = {}
    for name in here.get(TARGET_CORES, {}):
        if found := _OF.fullmatch(name):
            bound.setdefault(found[2], set()).add(int(found[1]))
    for cores in sorted({tuple(sorted(those)) for those in bound.values()}):
        share, then = _share(here.get("host", {}), cores), _share(low.get("host", {}), cores)
        used = {
            label: processes(here).get(label, {}).get("cpu_cores_used", 0.0)
            for label, those in bound.items()
            if those <= set(cores)
        }
        if share is None or share < NEAR_CEILING or sum(used.values()) < LEAST_OWN * share * len(cores):
            continue
        labels = sorted(used, key=lambda label: -used[label])
        who, which = " and ".join(labels), "the one core" if len(cores) == 1 else f"the {len(cores)} cores"
        quiet = f", {share_words(then)} {before}" if then is not None else ""
        by = ", ".join(f"{label} {number(used[label])}" for label in labels)
        busy = f"{'was' if len(cores) == 1 else 'were'} {share_words(share)} busy {words}{quiet}"
        text = f"{which[:1].upper()}{which[1:]} that {who} may use {busy}; of it {by}."
        remedy = f"give {who} more cores (affinity or cpuset); other processes of the target have others"
        yield Limit("cpu", f"{which} of {who}", share, then, text, remedy, Scope.TARGET_CORES, who)


def _share(host: Mapping[str, float], cores: tuple[int, ...]) -> float | None:
    """Mean use of these cores; None where it is not known of each."""
    shares = [host.get(f"core_{core}_share") for core in cores]
    known = [share for share in shares if share is not None]
    return sum(known) / len(known) if known and len(known) == len(shares) else None
