"""Who calls whom: the generator, the target's processes and what these call, as the sockets probes saw it in the step
that says most of the limit. The numbers are the means that the finding of the limit rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.findings.limits.dependency import Calls, calls_of
from plimsoll.findings.resources import Means, processes
from plimsoll.report import wording
from plimsoll.report.run_evidence import RunEvidence
from plimsoll.report.steps import Step
from plimsoll.report.wording import section
from plimsoll.words import amount_words, counted_words, share_words

GENERATOR = "Load generator"
LEAST_CONNECTIONS = 0.05  # on average; what is rarer is no part of the load


@dataclass(frozen=True)
class Node:
    """Somebody who is called, or calls: its `facts`, whether it is the limit, and whom it calls."""

    name: str
    facts: tuple[str, ...] = ()
    is_limit: bool = False
    calls: tuple[Edge, ...] = ()


@dataclass(frozen=True)
class Edge:
    """Connections from one to another, in words; whether most of the work in the caller waits for the other."""

    words: str
    is_waited_for: bool
    to: Node


@dataclass(frozen=True)
class Topology:
    """The generator with all that follows, the step in words, and what stops it in a sentence, empty where that is not
    known."""

    root: Node
    when: str
    limit: str


def topology_of(run: RunEvidence, finding: Mapping[str, Any], unit: str) -> Topology | None:
    """None where no process of the target was seen to call another."""
    step, means = run.looked_at, run.means
    if step is None:
        return None
    sockets = {source.partition(":")[2]: seen for source, seen in means.items() if source.startswith("sockets:")}
    calls = {label: _calls(label, seen, means) for label, seen in sockets.items()}
    called = {call.service for found in calls.values() for call in found}
    if not any(calls.values()):
        return None
    limited, unproven = section(finding, "limited_by"), section(section(finding, "limited_by"), "in_short_step")
    limit = str(limited.get("resource") or "")
    begins = [label for label, seen in sockets.items() if seen.get("connections_in") and label not in called]
    edges = tuple(_entry(label, sockets[label], calls, means, limit) for label in sorted(begins))
    if not edges:
        return None
    when = f"At {wording.level(step.level, unit)}, mean of the step from {wording.number(step.measured_from_s, 6)} "
    when += f"to {wording.number(step.end_s, 6)} s."
    where, short = limited.get("where"), unproven.get("where")
    stops = f"What stops it: {where}." if where else f"Not proven, in a short step: {short}." if short else ""
    return Topology(Node(GENERATOR, _rates(step), False, edges), when, stops)


def _calls(label: str, sockets: Mapping[str, float], means: Means) -> list[Calls]:
    found = [call for call in calls_of(label, sockets, means) if call.connections >= LEAST_CONNECTIONS]
    return sorted((call for call in found if call.service != label), key=lambda call: -call.connections)


def _rates(step: Step) -> tuple[str, ...]:
    requests = sum(tally.count for tally in step.requests.values())
    if not requests or not step.measured_s:
        return ()
    return (f"{wording.number(requests / step.measured_s)} requests/s",)


def _entry(
    label: str, sockets: Mapping[str, float], calls: Mapping[str, Sequence[Calls]], means: Means, limit: str
) -> Edge:
    count = sockets["connections_in"]
    queue = sockets.get("accept_queue", 0.0)
    waiting = f", {counted_words(queue, 'connection')} more not accepted" if round(queue) >= 1 else ""
    words = f"{counted_words(count, 'connection')}{waiting}"
    return Edge(words, False, _node(label, calls, means, limit, ()))


def _node(label: str, calls: Mapping[str, Sequence[Calls]], means: Means, limit: str, before: tuple[str, ...]) -> Node:
    """A process with whom it calls; who is `before` it calls it, and is not drawn again."""
    cores = processes(means).get(label, {}).get("cpu_cores_used")
    facts = () if cores is None else (amount_words(cores, "core"),)
    above = (*before, label)
    edges = tuple(_edge(call, calls, means, limit, above) for call in calls.get(label, ()) if call.service not in above)
    return Node(label, facts, label == limit, edges)


def _edge(call: Calls, calls: Mapping[str, Sequence[Calls]], means: Means, limit: str, before: tuple[str, ...]) -> Edge:
    words = counted_words(call.connections, "connection")
    if call.waiting_share is not None:
        words += f", {share_words(call.waiting_share)} wait for an answer"
    if not call.service:
        return Edge(words, call.is_waited_for, Node(call.address))
    to = _node(call.service, calls, means, limit, before)
    return Edge(words, call.is_waited_for, Node(to.name, (call.address, *to.facts), to.is_limit, to.calls))
