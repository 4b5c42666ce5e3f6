"""A statement as it is planned for a decision: its plans for the values that were seen or drawn, and for any values."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from plimsoll.probes.postgresql.connection import Session
from plimsoll.probes.postgresql.expressions import comparisons
from plimsoll.probes.postgresql.plans import Node, Scan, conditions, cost, explain, indexes_of, wasteful_scans
from plimsoll.probes.postgresql.statement_values import Statement

_VALUES = {"seen": "the values seen", "drawn": "values drawn from its rows", "none": ""}


@dataclass(frozen=True)
class Workload:
    """`plans` of `statement.texts`, in their order; `generic` of the statement with parameters, None where that cannot
    be planned."""

    statement: Statement
    plans: tuple[Node, ...]
    generic: Node | None

    @property
    def cost(self) -> float:
        """The planner's, the mean over the values."""
        return fmean(cost(plan) for plan in self.plans)

    @property
    def scans(self) -> list[Scan]:
        """The wasteful scans of all plans, each place of the statement once: in sequence rather than by an index."""
        found: dict[tuple[str, str, str], Scan] = {}
        for plan in self.plans:
            for scan in wasteful_scans(plan):
                other = found.get(scan.place)
                if other is None or (other.by_index and not scan.by_index):
                    found[scan.place] = scan
        return list(found.values())

    def scans_at(self, place: tuple[str, str, str]) -> list[tuple[Scan, Node]]:
        """That scan in each plan that has it, with its plan."""
        return [(scan, plan) for plan in self.plans for scan in wasteful_scans(plan) if scan.place == place]

    def own_conditions(self, scan: Scan) -> set[str]:
        """The conditions of that scan whose constant stands in the application's text: a driver that binds values left
        it there, and the planner of any values sees it."""
        if self.generic is None or not self.statement.binds:
            return set()
        return {
            one.text
            for schema, table, alias, condition in conditions(self.generic)
            if (schema, table, alias) == scan.place
            for one in comparisons(condition, alias)
            if "$" not in one.right
        }

    def use_of(self, index: str) -> str:
        """Whether the planner takes an index that is there, in words."""
        average = [index in indexes_of(self.generic)] if self.generic is not None else []
        given = [index in indexes_of(plan) for plan in self.plans] if self.statement.complete else []
        values = _VALUES[self.statement.origin]
        if all(given or average):
            return f"the index {index} is in use"
        if any(given):
            return f"the index {index} is in use for some of {values}"
        if any(average):
            return f"the planner takes the index {index} for average values, and for none of {values}"
        looked = [*(["average values"] if average else []), *([values] if given else [])]
        return f"the planner does not take the index {index}, which has these columns, for {' or '.join(looked)}"


def workload_of(session: Session, statement: Statement) -> Workload:
    """Plan it. Raises psycopg.Error where that cannot be done, the first text's."""
    plans = tuple(explain(session, text, parameters) for text, parameters in statement.texts)
    generic: Node | None = None
    try:
        generic = explain(session, statement.generic, statement.parameters)
    except Exception as error:
        if not session.outlives(error):
            raise
    return Workload(statement, plans, generic)
