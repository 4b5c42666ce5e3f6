"""Numbers with their units: `Seconds` is a float whose unit the schema and the findings name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any


@dataclass(frozen=True)
class Unit:
    """The unit of a number. LEVEL stands for that of the run's levels; one that begins with "named by" is in another
    field, as it may differ from entry to entry."""

    name: str

    def __get_pydantic_json_schema__(self, core: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return handler(core) | {"unit": self.name}


LEVEL = Unit("level")

Level = Annotated[float, LEVEL]
Seconds = Annotated[float, Unit("s")]
UnixSeconds = Annotated[float, Unit("s since 1970")]
Milliseconds = Annotated[float, Unit("ms")]
Bytes = Annotated[float, Unit("bytes")]
BytesPerSecond = Annotated[float, Unit("bytes/s")]
BytesPerItem = Annotated[float, Unit("bytes/item")]
PerSecond = Annotated[float, Unit("1/s")]
ItemsPerSecond = Annotated[float, Unit("items/s")]
RowsPerSecond = Annotated[float, Unit("rows/s")]
Ratio = Annotated[float, Unit("ratio")]
Probability = Annotated[float, Unit("probability")]
Deviations = Annotated[float, Unit("standard deviations")]
Logarithm = Annotated[float, Unit("natural logarithm of a ratio")]
Exponent = Annotated[float, Unit("exponent")]
Cores = Annotated[float, Unit("cores")]
Users = Annotated[float, Unit("users")]
Items = Annotated[float, Unit("items")]
Operations = Annotated[float, Unit("operations")]
Requests = Annotated[float, Unit("requests")]
Samples = Annotated[float, Unit("samples")]
Trials = Annotated[float, Unit("trials")]
Pairs = Annotated[float, Unit("pairs")]
Rounds = Annotated[float, Unit("rounds")]
Cells = Annotated[float, Unit("cells")]
Files = Annotated[float, Unit("files")]
Ports = Annotated[float, Unit("ports")]
Connections = Annotated[float, Unit("connections")]
Vus = Annotated[float, Unit("VUs")]
Threads = Annotated[float, Unit("threads")]
Processes = Annotated[float, Unit("processes")]
Restarts = Annotated[float, Unit("restarts")]
Times = Annotated[float, Unit("times")]
Polls = Annotated[float, Unit("polls")]
Records = Annotated[float, Unit("change records")]
Blocks = Annotated[float, Unit("blocks of time")]
Cycles = Annotated[float, Unit("cycles")]
Windows = Annotated[float, Unit("windows")]
Calls = Annotated[float, Unit("calls")]
Rows = Annotated[float, Unit("rows")]
DataBlocks = Annotated[float, Unit("blocks of the database")]
Tables = Annotated[float, Unit("tables")]
Errors = Annotated[float, Unit("errors")]
Scans = Annotated[float, Unit("scans")]
PlannerCost = Annotated[float, Unit("planner cost")]
Number = Annotated[int, Unit("ordinal")]
