"""Which of a tool's own configurations a global one means: gc is asked, and its answer is kept for KEPT_S.

So a change of what contributes to a global configuration reaches the tools within KEPT_S seconds. With `--resolve-each`
nothing is kept, and each artifact of an answer asks for itself: a call of gc for each, where one would do.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from plimsoll_lab.configurations.answers import Refusal
from plimsoll_lab.configurations.others import Others

KEPT_S = 60.0
MOST_KEPT = 10_000


@dataclass(frozen=True)
class Local:
    """A local configuration that a global one holds."""

    project: int
    configuration: int
    kind: str


@dataclass
class Contexts:
    """What global configurations come to for the tool `service`. `clock` gives seconds that only grow."""

    service: str
    others: Others
    resolve_each: bool = False
    clock: Callable[[], float] = time.monotonic
    asked: int = 0
    _kept: OrderedDict[int, tuple[float, list[Local]]] = field(default_factory=OrderedDict)

    async def locals_of(self, context: int, token: str) -> list[Local]:
        """The tool's configurations in the global one. Raises Refusal: there is no such, or gc does not answer."""
        kept = None if self.resolve_each else self._kept.get(context)
        if kept is not None and kept[0] > self.clock():
            return kept[1]
        self.asked += 1
        found = await self.others.found("gc", f"/gc/configuration/{context}", token)
        if found is None:
            raise Refusal(404, f"There is no global configuration {context}.")
        here = [
            Local(one["project"], one["configuration"], one["kind"])
            for one in found["resolved"]
            if one["service"] == self.service
        ]
        if not self.resolve_each:
            self._kept[context] = (self.clock() + KEPT_S, here)
            self._kept.move_to_end(context)
            if len(self._kept) > MOST_KEPT:
                self._kept.popitem(last=False)
        return here

    async def local_of(self, context: int, project: int | None, token: str) -> Local:
        """The one of that project; of any if None, the first. Raises Refusal."""
        here = await self.locals_of(context, token)
        for one in here:
            if project in (None, one.project):
                return one
        what = f"project {project}" if project is not None else "any project"
        raise Refusal(404, f"The global configuration {context} holds nothing of {what} of {self.service}.")
