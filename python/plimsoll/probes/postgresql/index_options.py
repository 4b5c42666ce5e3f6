"""What each candidate would bring to a statement: by the planner with a hypothetical index, else by an estimate.

hypopg keeps hypothetical indexes in the memory of our own session, and the planner takes them for its plans; nothing is
made and nothing is run. What it lacks (GIN, GiST, all without hypopg) is estimated in the planner's unit from a sample
of the table's rows (row_sample.py, index_cost.py). Neither is a time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Literal

from plimsoll.probes.postgresql.connection import MARK, Session
from plimsoll.probes.postgresql.expressions import comparisons, plain_column
from plimsoll.probes.postgresql.index_candidates import Candidate, candidates, quoted
from plimsoll.probes.postgresql.index_cost import Prices, ordered_cost, search_cost, tree_cost
from plimsoll.probes.postgresql.plans import Node, Scan, cost, explain, uses_index
from plimsoll.probes.postgresql.rights import Rights
from plimsoll.probes.postgresql.row_sample import Sampled, sample
from plimsoll.probes.postgresql.statement_text import masked
from plimsoll.probes.postgresql.statements import extension_schema
from plimsoll.probes.postgresql.table_facts import Table, TableFacts
from plimsoll.probes.postgresql.trigrams import conditions_of
from plimsoll.probes.postgresql.workload import Workload
from plimsoll.words import share_words

Proof = Literal["executed", "planner", "none"]
MOST_KEPT = 0.2
MOST_KEPT_OF_SEARCH = 0.5
MOST_JOINED = 0.05
MOST_PARTIAL = 0.3  # of the rows in a partial index; one with more is as large as a whole one, and serves less
LEAST_GAIN = 0.2
LEAST_MET = 10  # rows of a sample; of fewer the planner's statistics, where it has any, tell more
NEARLY = 1.1
NOTHING = 8.0  # two pages at random: a difference that nobody would see
MARGIN = 2.0  # an estimate has to promise so many times less than the planner does, as it may be off by that
_PLAIN = ("=", "<", "<=", ">", ">=", "IS")
HYPOTHETICAL = ("btree", "brin", "hash", "bloom")


@dataclass(frozen=True)
class Option:
    """One index, or two `candidates` that are made together. `cost`: the statement's with it, by planner or estimate,
    None where neither can tell; `time_ms`: of a run of it, with `before_ms` without; `why_not`: what keeps it from
    being proven by a run."""

    candidates: tuple[Candidate, ...]
    cost: float | None
    proof: Proof
    why_not: str = ""
    time_ms: float | None = None
    before_ms: float | None = None

    @property
    def simplicity(self) -> tuple[int, int, int, int]:
        """Of two that cost nearly the same the smaller one is advised: one index, no extension, part of the rows, few
        keys."""
        first = self.candidates[0]
        needs = sum(len(one.needs) for one in self.candidates)
        return len(self.candidates), needs, 0 if first.predicate else 1, len(first.keys)


def cheapest(options: Sequence[Option]) -> Option | None:
    """The best by cost: the planner's word before an estimate, unless that promises MARGIN times less."""
    planned = _least([one for one in options if one.proof == "planner"])
    others = [one for one in options if one.proof == "none"]
    estimated = _least([one for one in others if one.cost is not None]) or (others[0] if others else None)
    if planned is None or estimated is None:
        return planned or estimated
    if estimated.cost is not None and planned.cost is not None and MARGIN * estimated.cost <= planned.cost:
        return estimated
    return planned


def _least(options: Sequence[Option]) -> Option | None:
    if not options:
        return None
    most = NEARLY * min(one.cost or 0.0 for one in options) + NOTHING
    return min((one for one in options if (one.cost or 0.0) <= most), key=lambda one: one.simplicity)


class Means:
    """What options are found with: a session, and what is known of its server; `hypopg`: its schema, None without."""

    def __init__(self, session: Session, rights: Rights) -> None:
        self.session, self.rights = session, rights
        self.facts, self.prices = TableFacts(session), Prices.of(session)
        self.hypopg = extension_schema(session, "hypopg") if rights.has("hypopg") else None


class OptionsOfScan:
    """The options for one scan of a statement, planned `until` then; `reasons`: why candidates are none; `sampled`:
    rows that were looked at for estimates, 0 without."""

    def __init__(self, means: Means, table: Table, workload: Workload, scan: Scan, until: float) -> None:
        self._session, self._rights, self._hypopg = means.session, means.rights, means.hypopg
        self._facts, self._prices = means.facts, means.prices
        self._table, self._workload, self._scan, self._until = table, workload, scan, until
        self.reasons: list[str] = []
        self.candidates = self._candidates_of(scan)
        self._plain: set[str] = set()  # conditions of a column and a constant
        self._planned_shares: dict[tuple[str, ...], float | None] = {}
        self._samples: list[tuple[Scan, Node, Sampled | None]] | None = None

    def _candidates_of(self, scan: Scan) -> list[Candidate]:
        is_c = self._rights.facts["collation"] in ("C", "POSIX")
        own = self._workload.own_conditions(scan)
        return candidates(scan, self._facts.type_of, is_c, own, has_btree_gin=self._rights.has("btree_gin"))

    @property
    def sampled(self) -> int:
        """Rows of a sample."""
        return max((len(one.rows) for _, _, one in self._samples or () if one is not None), default=0)

    def all(self, *, is_run_later: bool = False) -> list[Option]:
        """Those that promise less than the statement costs now, and what cannot be told. `is_run_later`: a run decides,
        so that an estimate rules nothing out that might pay."""
        found = []
        for candidate in self.candidates:
            if time.monotonic() > self._until:
                self.reasons.append("the time for planning was over")
                break
            if candidate.is_known and self._is_usable(candidate):
                planned = self._hypopg is not None and candidate.method in HYPOTHETICAL
                option = self._planned(candidate) if planned else self._estimated(candidate, is_run_later)
                found += [option] if option is not None else []
        return found

    def _is_usable(self, candidate: Candidate) -> bool:
        """Whether it can be made, is not there yet, and is not nearly the whole table where it should be a part."""
        there = self._table.index_like(candidate)
        if there is not None:
            use = self._workload.use_of(there)
            hint = f": too many rows, another type or collation, or old statistics (ANALYZE {quoted(candidate.table)};)"
            self.reasons.append(use if "in use" in use else use + hint)
            return False
        for text in (*(key.expression for key in candidate.keys), candidate.predicate):
            unfit = self._facts.mutable(text) if text else ""
            if unfit:
                self.reasons.append(f"{unfit} is not IMMUTABLE, so that no index can be made on it")
                return False
        if candidate.predicate:
            share = self._share([one for one in candidate.answers if f"({one})" in candidate.predicate])
            return share is not None and share <= MOST_PARTIAL
        return True

    def _planned(self, candidate: Candidate) -> Option | None:
        """Plan the statement again with the index as if it were there."""
        create = f"CREATE INDEX {candidate.definition}"
        columns = "indexrelid::bigint AS id, indexname AS name"
        try:
            make = f"SELECT {MARK} {columns} FROM {self._hypopg}.hypopg_create_index(%s)"
            [made] = self._session.rows(make, (create,))
        except Exception as error:
            if not self._session.outlives(error):
                raise
            self.reasons.append(f"no such index can be made ({first_line(error)})")
            return None
        try:
            plans = [explain(self._session, *text) for text in self._workload.statement.texts]
        finally:
            self._session.rows(f"SELECT {MARK} {self._hypopg}.hypopg_drop_index(%s::oid)", (made["id"],))
        after = fmean(cost(plan) for plan in plans)
        is_taken = any(uses_index(plan, made["name"]) for plan in plans)
        if not is_taken or after > (1 - LEAST_GAIN) * self._workload.cost:
            average = "" if self._workload.statement.complete else ", for average values of its parameters"
            self.reasons.append(f"the planner would not use the index that its condition suggests{average}")
            return None
        return Option((candidate,), after, "planner", "hypopg's indexes are hypothetical, and none is run")

    def _estimated(self, candidate: Candidate, is_run_later: bool) -> Option | None:
        why = "hypopg is not there" if self._hypopg is None else f"hypopg makes no {candidate.method.upper()} indexes"
        after = self._estimate(candidate)
        if is_run_later:
            return Option((candidate,), after, "none", why)
        if self._scan.by_index:
            used = ", ".join(self._scan.indexes)
            self.reasons += [f"the index {used} is in use", "none is named in its place without hypopg or a run"]
            return None
        if not self._pays(candidate):
            return None
        if after is not None and after > (1 - LEAST_GAIN) * self._workload.cost:
            self.reasons.append(
                f"a sample of its rows tells that a {candidate.method.upper()} index would read about as much"
            )
            return None
        return Option((candidate,), after, "none", why)

    def _pays(self, candidate: Candidate) -> bool:
        """Without a planner: whether the index leaves so few of the rows that reading them by it is cheaper."""
        if candidate.gives_order:
            return True
        if self._scan.join and not self._scan.filter:
            if self._scan.other_rows <= MOST_JOINED * self._table.rows:
                return True
            self.reasons.append("the join needs so many of its rows that reading all of them is right")
            return False
        most = MOST_KEPT if candidate.method == "btree" else MOST_KEPT_OF_SEARCH
        sampled = self._share(candidate.answers) if candidate.answers else None
        kept = self._scan.rows / max(1.0, self._table.rows) if sampled is None else sampled
        if kept <= most:
            return True
        self.reasons.append(
            f"the condition keeps {share_words(kept)} of its rows, so that reading all of them is right"
        )
        return False

    def _looked_at(self) -> list[tuple[Scan, Node, Sampled | None]]:
        """That scan for each of the values, with a sample of the table's rows by its conditions."""
        if self._samples is None:
            self._samples = []
            for scan, plan in self._workload.scans_at(self._scan.place):
                asked = comparisons(scan.filter, scan.alias) if scan.filter else []
                self._plain |= {one.text for one in asked if one.operator in _PLAIN and plain_column(one.left)}
                wanted = [text for one in asked for text in (one.text, *conditions_of(one.left, one.right))]
                wanted = [text for text in wanted if "$" not in text and not self._facts.mutable(text)]
                looked = sample(self._session, (scan.schema, scan.table), self._table.rows, wanted)
                self._samples.append((scan, plan, looked))
        return self._samples

    def _share(self, conditions: Sequence[str]) -> float | None:
        """The share of the rows that meets them, with the values that they have here; None where nobody looked."""
        shares = [self._share_of(looked, conditions) for _, _, looked in self._looked_at() if looked is not None]
        known = [share for share in shares if share is not None]
        return fmean(known) if known else None

    def _share_of(self, looked: Sampled, conditions: Sequence[str]) -> float | None:
        """By the sample; of what few of its rows meet by the planner, where that has statistics of it."""
        met = looked.met(conditions)
        if met is not None and met >= LEAST_MET:
            return met / len(looked.rows)
        alone = {one for one in conditions if one in self._plain}
        return self._planner_share(conditions) if alone == set(conditions) else looked.share(conditions)

    def _planner_share(self, conditions: Sequence[str]) -> float | None:
        """Of conditions that compare columns with constants: it knows most frequent values and a histogram of each."""
        key = tuple(sorted(conditions))
        if key not in self._planned_shares:
            place = f"{quoted(self._scan.schema)}.{quoted(self._scan.table)}"
            text = f"SELECT 1 FROM ONLY {place} WHERE {' AND '.join(map('({})'.format, key))}"
            try:
                rows = float(explain(self._session, text, 0)["Plan Rows"])
                self._planned_shares[key] = min(1.0, rows / max(1.0, self._table.rows))
            except Exception as error:
                if not self._session.outlives(error):
                    raise
                self._planned_shares[key] = None
        return self._planned_shares[key]

    def _estimate(self, candidate: Candidate) -> float | None:
        """The statement's cost with the index, the mean over the values; None where a sample does not tell."""
        costs = []
        for scan, plan, looked in self._looked_at():
            alike = next((one for one in self._candidates_of(scan) if one.definition == candidate.definition), None)
            scanned = self._scan_cost(alike, scan, looked) if alike is not None and looked is not None else None
            if scanned is None:
                return None
            rest = 0.0 if candidate.gives_order else max(0.0, cost(plan) - scan.cost)
            costs.append(rest + scanned)
        return fmean(costs) if costs else None

    def _scan_cost(self, candidate: Candidate, scan: Scan, looked: Sampled) -> float | None:
        rows, pages = self._table.rows, float(self._table.pages)
        share = self._share_of(looked, candidate.answers) if candidate.answers else 1.0
        if share is None or (scan.join and not scan.filter):
            return None
        if candidate.gives_order and scan.limit_rows:
            asked = [one.text for one in comparisons(scan.filter, scan.alias)] if scan.filter else []
            kept = self._share_of(looked, asked) if asked else 1.0
            if kept is None:
                kept = scan.rows / max(1.0, rows)
            return ordered_cost(scan.limit_rows, min(1.0, kept / share), share * rows, pages, self._prices)
        if candidate.method == "btree":
            return tree_cost(share * rows, pages, self._prices)
        if "pg_trgm" not in candidate.needs:
            parts = [self._share_of(looked, [one]) for one in candidate.answers]
            return search_cost([(part or share) * rows for part in parts], share * rows, pages, self._prices)
        return self._pattern_cost(candidate, scan, looked)

    def _pattern_cost(self, candidate: Candidate, scan: Scan, looked: Sampled) -> float | None:
        """By trigrams: the index finds the rows that have all of them, and each is compared again."""
        patterns = [one for one in comparisons(scan.filter, scan.alias) if one.text == candidate.answers[-1]]
        parts = [text for one in patterns for text in conditions_of(one.left, one.right)]
        if not parts:  # all of the index, and then all of the table
            return 2 * scan.cost
        wanted = [*parts, *candidate.answers[:-1]]
        shares = [self._share_of(looked, [one]) for one in wanted]
        together = looked.share(wanted)
        if together is None or any(share is None for share in shares):
            return None
        rows = self._table.rows
        entries = [(share or 0.0) * rows for share in shares]
        return search_cost(entries, together * rows, float(self._table.pages), self._prices)


def paired(options: Sequence[Option]) -> list[Option]:
    """The best B-tree and the best other index together, whose rows a bitmap combines: only a run can tell of those."""
    trees = [one for one in options if one.candidates[0].method == "btree" and not one.candidates[0].gives_order]
    others = [one for one in options if one.candidates[0].method != "btree" and len(one.candidates[0].keys) == 1]
    if not trees or not others:
        return []
    tree, other = (min(some, key=lambda one: one.cost or float("inf")) for some in (trees, others))
    return [replace(other, candidates=(*tree.candidates, *other.candidates), cost=None)]


def first_line(error: Exception) -> str:
    """The server's message without constants, which may be users' data."""
    if str(getattr(error, "sqlstate", None) or "").startswith("22"):  # data exceptions quote the data
        return "a constant of it does not fit"
    lines = str(error).strip().splitlines()
    return masked(lines[0])[:200].rstrip(".") if lines else type(error).__name__
