"""How the engine keeps its VUs: several of a thread in one JavaScript runtime, or each in one of its own.

Sharing rests on private fields of QuickJS, which the engine finds by watching a runtime at work
(crates/script/src/runtime.rs). Where it does not recognise them, each VU gets a runtime of its own: results are the
same, memory is not.
"""

from __future__ import annotations

from typing import Literal

VuRuntimes = Literal["shared", "unrecognised", "asked_for"]
COST = "about 110 KiB more per VU"  # crates/script/src/runtime.rs
FOUND: dict[VuRuntimes, str] = {
    "shared": "VUs of a thread share JavaScript runtimes",
    "unrecognised": "a JavaScript runtime per VU: the private fields of QuickJS were not recognised",
    "asked_for": "a JavaScript runtime per VU: PLIMSOLL_OWN_RUNTIMES is set",
}
REMEDY: dict[VuRuntimes, str] = {
    "shared": "",
    "unrecognised": "Report it with the output of `plimsoll doctor --json`. Results are not affected.",
    "asked_for": "Unset PLIMSOLL_OWN_RUNTIMES to save the memory. Results are not affected.",
}


def own_runtimes_words(runtimes: VuRuntimes) -> str | None:
    """The note for a run; None where VUs share runtimes."""
    if runtimes == "shared":
        return None
    found = FOUND[runtimes]
    return f"The engine keeps {found}. It takes {COST}. {REMEDY[runtimes]}"
