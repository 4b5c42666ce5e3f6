"""Server-side transactions per request: what the report's New Relic counted, for /status and for each answer's headers.

A transaction is a request that one of the two services handles: the forum's own, and each call of the accounts service
that it makes for it. So transactions per request are 1 plus the calls, and the share of the accounts call is calls by
transactions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class Fan:
    """The calls of the accounts service that one request made, and how many of them failed."""

    calls: int = 0
    failed: int = 0


@dataclass
class _Count:
    requests: int = 0
    accounts_calls: int = 0
    accounts_failed: int = 0

    def add(self, fan: Fan) -> None:
        self.requests += 1
        self.accounts_calls += fan.calls
        self.accounts_failed += fan.failed

    def document(self) -> dict[str, Any]:
        transactions = self.requests + self.accounts_calls
        return {
            "requests": self.requests,
            "transactions": transactions,
            "transactions_per_request": transactions / self.requests if self.requests else None,
            "accounts_calls": self.accounts_calls,
            "accounts_share": self.accounts_calls / transactions if transactions else None,
            "accounts_failed": self.accounts_failed,
        }


class Transactions:
    """Counts since the start, in all and by operation; operations are the server's own names, so they are few."""

    def __init__(self) -> None:
        self._by_operation: dict[str, _Count] = {}

    def add(self, operation: str, fan: Fan) -> None:
        """Count one request that was answered."""
        self._by_operation.setdefault(operation, _Count()).add(fan)

    def document(self) -> dict[str, Any]:
        """Of all requests, and of each operation."""
        whole = _Count()
        for one in self._by_operation.values():
            whole.requests += one.requests
            whole.accounts_calls += one.accounts_calls
            whole.accounts_failed += one.accounts_failed
        each = {name: one.document() for name, one in sorted(self._by_operation.items())}
        return {**whole.document(), "by_operation": each}
