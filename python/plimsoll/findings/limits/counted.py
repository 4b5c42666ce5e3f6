"""Limits of how many there may be: tasks of a control group, open files of a process.

What is one too many is refused: it shows as requests that fail rather than as a resource that is busy, and so comes
before the errors that it causes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from plimsoll.findings.limits.limit import Limit, to_try
from plimsoll.findings.resources import Means, processes
from plimsoll.words import count_words, number

FULL = 0.95


def counted_limits(here: Means, low: Means, words: str, before: str) -> list[Limit]:
    """Those that were reached in the overloaded step."""
    groups = [(source, values) for source, values in here.items() if source.startswith("cgroup:")]
    tasks = [limit for name, values in groups for limit in _tasks(name, values, low.get(name, {}), words, before)]
    calm = processes(low)
    files = [
        limit
        for label, values in processes(here).items()
        for limit in _open_files(label, values, calm.get(label, {}), words, before)
    ]
    return [*tasks, *files]


def _tasks(
    source: str, values: Mapping[str, float], then: Mapping[str, float], words: str, before: str
) -> Iterator[Limit]:
    """pids.max. Where the kernel counts what it refused, a group that is only full is at no limit."""
    share, refused = values.get("processes_share"), values.get("processes_refused_per_s")
    if share is None or (refused == 0 if refused is not None else share < FULL):
        return
    label = source.partition(":")[2]
    quiet = f"; {count_words(then['processes'])} {before}" if "processes" in then else ""
    many = f"{count_words(values['processes'])} of the {count_words(values['processes_limit'])} tasks"
    no = f", and {number(refused)} more a second were refused" if refused else ""
    text = f"{many} (processes and threads) that its control group may have were there {words}{no}{quiet}."
    remedy = (
        f"raise the limit of tasks {to_try(values['processes_limit'])} (TasksMax= of its service, --pids-limit of its "
        "container, podPidsLimit), or have it start fewer processes and threads"
    )
    # Reached is reached, however short of it the mean of the step is; so at low load.
    if refused:
        low = 1.0 if then.get("processes_refused_per_s") else then.get("processes_share")
        yield Limit("tasks_limit", f"tasks limit of {label}", 1.0, low, text, remedy)
    else:
        yield Limit("tasks_limit", f"tasks limit of {label}", share, then.get("processes_share"), text, remedy)


def _open_files(
    label: str, values: Mapping[str, float], then: Mapping[str, float], words: str, before: str
) -> Iterator[Limit]:
    share, low, limit = _open_share(values), _open_share(then), values.get("open_files_limit")
    if share is None or limit is None or share < FULL:
        return
    quiet = f"; {count_words(low * limit)} {before}" if low is not None else ""
    text = (
        f"{count_words(share * limit)} of the {count_words(limit)} files, connections included, that a process of "
        f"{label} may have open were open {words}{quiet}."
    )
    remedy = (
        f"raise its limit of open files {to_try(limit)} (LimitNOFILE= of its service, --ulimit nofile= of its "
        "container, ulimit -n), and see whether it closes what it no longer uses"
    )
    yield Limit("open_files_limit", f"open files of {label}", min(1.0, share), low, text, remedy)


def _open_share(values: Mapping[str, float]) -> float | None:
    """Of the process that has most open; a page of metrics tells of one process alone, and has no share."""
    if "open_files_share" in values:
        return values["open_files_share"]
    opened, limit = values.get("open_files"), values.get("open_files_limit")
    return opened / limit if opened is not None and limit else None
