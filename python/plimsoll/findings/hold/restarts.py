"""Did it restart, and had it come near its memory limit? Of the notes of the run and of the memory probed before each.

Processes and their memory are seen once a second. What is allocated between the last look and the end passes unseen,
so that memory far from its limit acquits nothing; so do restarts between two looks, and their number is "at least".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from plimsoll.findings.evidence import EVENTS, RESOURCES, Evidence, as_data
from plimsoll.probes.restarts import tells_of_restart
from plimsoll.words import number, share_words, size_words, times_words

QUESTION = "Did it restart?"
MOST_SHOWN = 5
SEEN_BEFORE_S = 5.0  # the last look at a process, at most so long before its restart was noted
KILLED_WITHIN_S = 2.0  # after that note a control group may still tell of the kill
NEAR_LIMIT = 0.8
_NOT_THE_TARGETS = ("host", "network", "generator", "clock")  # kinds of sources


@dataclass
class _Seen:
    """What was probed of one label: (second, bytes used, the limit if there is one) of its process and of its control
    group, in the order of time; and seconds in which the kernel killed something of it for memory."""

    process: list[tuple[float, float, float | None]] = field(default_factory=list)
    group: list[tuple[float, float, float | None]] = field(default_factory=list)
    kills: list[float] = field(default_factory=list)


def restart_finding(
    notes: Iterable[Mapping[str, Any]],
    held: Mapping[str, Any],
    resources: Iterable[Mapping[str, Any]] = (),
    limit_bytes: float | None = None,
) -> dict[str, Any]:
    """Process ids that changed, start times on a page of metrics or of a Java virtual machine that did, while the load
    was on. `resources`: rows of the probes; `limit_bytes`: what the target may use, where it was stated."""
    within = [one for one in notes if held["start_s"] <= float(one.get("second", -1)) <= held["end_s"] + 1]
    told = [one for one in within if tells_of_restart(str(one.get("message")))]
    seen = _memory_by_label(resources, limit_bytes) if told else {}
    rows = [_row(one, seen) for one in told]
    found: dict[str, Any] = {
        "question": QUESTION,
        "restarts": rows,
        "evidence": as_data(_evidence(rows, held)),
        "next": [],
    }
    if not rows and not any(str(row.get("source")).partition(":")[0] not in _NOT_THE_TARGETS for row in resources):
        return found | {"answer": "It cannot be told: no process of the target was probed."}
    if not rows:
        return found | {"answer": "No restart of a probed process was seen."}
    seconds = ", ".join(number(float(row["second"])) for row in rows[:MOST_SHOWN])
    many = f"at least {times_words(len(rows))}"
    words = [f"Yes, {many}, {seconds} s after the start: {rows[0]['message']}.", *_memory_words(rows)]
    return found | {"answer": " ".join(words), "trouble": f"It restarted {many}", "next": [_next_step(rows)]}


def _memory_by_label(resources: Iterable[Mapping[str, Any]], limit_bytes: float | None) -> dict[str, _Seen]:
    found: dict[str, _Seen] = defaultdict(_Seen)
    for row in resources:
        kind, _, label = str(row.get("source")).partition(":")
        values, second = row.get("values") or {}, float(row.get("second", -1))
        if kind == "process" and "rss_bytes" in values:
            found[label].process.append((second, float(values["rss_bytes"]), limit_bytes))
        if kind == "cgroup" and {"memory_used_bytes", "memory_limit_bytes"} <= values.keys():
            used, limit = float(values["memory_used_bytes"]), float(values["memory_limit_bytes"])
            found[label].group.append((second, used, limit))
        if kind == "cgroup" and values.get("oom_kills_per_s"):
            found[label].kills.append(second)
    return found


def _row(note: Mapping[str, Any], seen: Mapping[str, _Seen]) -> dict[str, Any]:
    """One restart, with what was seen last of its memory: of its control group where that has a limit."""
    source, _, message = str(note["message"]).partition(": ")
    second, label = float(note["second"]), source.partition(":")[2]
    row: dict[str, Any] = {"second": note["second"], "message": message}
    about = seen.get(label)
    if about is None:
        return row
    for points in (about.group, about.process):
        last = next((point for point in reversed(points) if second - SEEN_BEFORE_S <= point[0] < second), None)
        if last is not None:
            row |= {"label": label, "memory_bytes": last[1], "memory_limit_bytes": last[2]}
            break
    is_killed = any(second - SEEN_BEFORE_S <= kill <= second + KILLED_WITHIN_S for kill in about.kills)
    return row | ({"label": label, "killed_for_memory": True} if is_killed else {})


def _share(row: Mapping[str, Any]) -> float | None:
    """Of its limit, where both were probed."""
    limit = row.get("memory_limit_bytes")
    return float(row["memory_bytes"]) / float(limit) if limit else None


def _memory_words(rows: list[dict[str, Any]]) -> list[str]:
    """Of each process that restarted: whether it was killed, and the most memory that it had last before a restart."""
    words = []
    for label in dict.fromkeys(str(row["label"]) for row in rows if "label" in row):
        own = [row for row in rows if row.get("label") == label]
        killed = [number(float(row["second"])) for row in own if row.get("killed_for_memory")]
        if killed:
            at = ", ".join(killed[:MOST_SHOWN])
            words.append(f"The kernel killed a process of {label} for memory, by the restart at {at} s.")
        known = [row for row in own if "memory_bytes" in row]
        if not known:
            continue
        most = max(known, key=lambda row: (_share(row) or 0.0, row["memory_bytes"]))
        size, share = size_words(most["memory_bytes"]), _share(most)
        many = f", the most of {len(known)} times" if len(known) > 1 else ""
        against = (
            f"{share_words(share)} of its limit of {size_words(most['memory_limit_bytes'])}"
            if share is not None
            else "what its limit is was not probed"
        )
        words.append(f"When last seen before, {label} had {size} of memory{many}: {against}.")
    return words


def _next_step(rows: list[dict[str, Any]]) -> str:
    shares = [share for row in rows if (share := _share(row)) is not None]
    if any(row.get("killed_for_memory") for row in rows):
        return (
            "Raise the memory limit that was reached (memory.max, MemoryMax= of its service, --memory of its "
            "container), or have it hold less at a time; the system's log has what was killed (journalctl -k, dmesg)."
        )
    if shares and max(shares) >= NEAR_LIMIT:
        return (
            "It was near its memory limit: look for a kill at these moments in the log of what holds it to that limit, "
            "and have it hold less at a time, or raise the limit."
        )
    return "Look at the target's log, and the system's (out of memory?), at these moments."


def _evidence(rows: list[dict[str, Any]], held: Mapping[str, Any]) -> list[Evidence]:
    span = float(held["start_s"]), float(held["end_s"])
    looks = sum("memory_bytes" in row for row in rows)
    notes = Evidence(len(rows), "notes", EVENTS, "Of restarts", *span)
    return [notes, *([Evidence(looks, "looks", RESOURCES, "Memory before a restart", *span)] if looks else [])]
