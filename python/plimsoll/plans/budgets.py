"""The names that a budget may have, so that a wrong one is told before an hour of load."""

from __future__ import annotations

from collections.abc import Mapping

from plimsoll.errors import InputError, InputErrors
from plimsoll.nearest_word import nearest
from plimsoll.plans.load import Plan
from plimsoll.probes.processes.local_targets import is_local, local_listeners

HOST_NAMES = ("cpu", "disk")


def check_budgets(plan: Plan) -> None:
    """Raises InputErrors for budgets of what the run will not probe: names are cpu and disk (of this host) and the
    labels of the target's processes; a+b are processes."""
    if not plan.budgets:
        return
    labels = _labels(plan)
    if not labels:
        raise InputError(
            f"--budget {next(iter(plan.budgets))}: no process of the target is probed, so what it uses is not known",
            "Name its processes in the study (target.processes), or give a URL of this host, or leave --budget out.",
        )
    names = [*(HOST_NAMES if is_local(plan.target.url) is not False else ()), *labels]
    problems = _mistakes(plan.budgets, names, labels)
    if problems:
        raise InputErrors(problems)


def _labels(plan: Plan) -> list[str]:
    if not plan.probes.processes:
        return []
    processes = plan.target.processes or local_listeners([plan.target.url] if plan.target.url else [])
    return list(dict.fromkeys(process.label for process in processes))


def _mistakes(budgets: Mapping[str, float], names: list[str], labels: list[str]) -> list[InputError]:
    problems = []
    for name in budgets:
        parts = [part.strip() for part in name.split("+")]
        known, what = (labels, "process") if len(parts) > 1 else (names, "resource")
        for part in parts:
            if part not in known:
                step = nearest(part, known, f"Use one of {', '.join(known)}.")
                problems.append(InputError(f"--budget {name}: there is no {what} {part!r}", step))
    return problems
