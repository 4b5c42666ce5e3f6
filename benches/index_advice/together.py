"""Cases with several kinds of conditions in one statement: which of its indexes is the best is the question.

Each has `rivals`, the indexes that somebody might make for it; the bench runs the statement with each of them. The
kinds of TUNED_WITH are those that integration tests had while the advice was written; the others were written before
any trial of them and nothing was changed for what they showed (held out).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random

from tickets import LEAST_ROWS, Draw, Made, Statement, hex_text, number, tickets

TUNED_WITH = (
    "equality + pattern + order", "equality + range + order", "frequent value and rare pattern", "not archived",
    "open of a customer", "lower case and status", "elements and status", "JSON and range",
)  # fmt: skip
TRGM = "(title gin_trgm_ops)"
WORDS = ("printer", "invoice", "password", "network", "refund", "delivery", "mirror", "upgrade")


def _worded(setup: list[str]) -> list[str]:
    """Titles of two words and digits, as people write, in place of digits alone; a tenth of the tickets archived."""
    words = ", ".join(f"'{word}'" for word in WORDS)
    return [
        *setup,
        "ALTER TABLE ticket ADD archived timestamptz",
        f"UPDATE ticket SET title = (ARRAY[{words}])[1 + id % 8] || ' ' || (ARRAY[{words}])[1 + id / 8 % 8] || ' ' "
        "|| substr(md5(id::text), 1, 8), archived = CASE WHEN id % 10 < 9 THEN created END",
        "VACUUM FULL ticket",
    ]


def _gin(columns: str) -> str:
    return f"ON ticket USING gin {columns}"


def _equality_pattern(draw: Draw) -> Made:
    customers = draw.count("customers", 50, 1_000)
    text = "SELECT id, title FROM ticket WHERE customer = %s AND title ILIKE %s ORDER BY amount LIMIT 20"
    rivals = ("ON ticket (customer)", "ON ticket (customer, amount)", "ON ticket (amount)", _gin(TRGM))
    return (
        _worded(tickets(draw, customers)),
        Statement(text, lambda r, _: (r.randint(1, customers), f"%{r.choice(WORDS)}%"), rivals=rivals),
        [],
    )


def _equality_range_order(draw: Draw) -> Made:
    customers, least = draw.count("customers", 10, 300), draw.of("least", [100, 500, 900])
    text = "SELECT id, title FROM ticket WHERE customer = %s AND amount > %s ORDER BY created DESC LIMIT 20"
    rivals = (
        "ON ticket (customer)", "ON ticket (customer, amount)", "ON ticket (customer, created DESC)",
        "ON ticket (customer, created DESC, amount)", "ON ticket (created DESC)",
    )  # fmt: skip
    return (
        _worded(tickets(draw, customers)),
        Statement(text, lambda r, _: (r.randint(1, customers), least + r.randint(0, 50)), rivals=rivals),
        [],
    )


def _rare_pattern(draw: Draw) -> Made:
    length = draw.of("letters", [5, 6])
    text = "SELECT id, title FROM ticket WHERE status = %s AND title ILIKE %s ORDER BY created LIMIT 20"
    rivals = ("ON ticket (status)", "ON ticket (status, created)", "ON ticket (created)", _gin(TRGM))
    return (
        _worded(tickets(draw)),
        Statement(text, lambda r, _: ("closed", f"%{hex_text(r, length)}%"), rivals=rivals),
        [],
    )


def _not_archived(draw: Draw) -> Made:
    customers = draw.count("customers", 20, 500)
    text = "SELECT id, title FROM ticket WHERE archived IS NULL AND customer = %s"
    rivals = (
        "ON ticket (customer)", "ON ticket (customer, archived)", "ON ticket (customer) WHERE archived IS NULL",
    )  # fmt: skip
    return _worded(tickets(draw, customers)), Statement(text, number(1, customers), rivals=rivals), []


def _open_of_customer(draw: Draw) -> Made:
    customers, share = draw.count("customers", 20, 300), draw.of("open_share", [0.005, 0.02, 0.05])
    text = "SELECT id, title FROM ticket WHERE status = 'open' AND customer = %s ORDER BY created LIMIT 20"
    rivals = (
        "ON ticket (customer)", "ON ticket (status)", "ON ticket (customer, status, created)",
        "ON ticket (customer, created) WHERE status = 'open'", "ON ticket (customer) WHERE status = 'open'",
    )  # fmt: skip
    return _worded(tickets(draw, customers, open_share=share)), Statement(text, number(1, customers), rivals=rivals), []


def _lower_and_status(draw: Draw) -> Made:
    text = "SELECT id, title FROM ticket WHERE lower(email) = %s AND status = %s"
    rivals = ("ON ticket (lower(email))", "ON ticket (status)", "ON ticket (status, lower(email))")
    return (
        _worded(tickets(draw)),
        Statement(text, lambda r, _: (f"user{r.randint(1, LEAST_ROWS)}@example.org", "closed"), rivals=rivals),
        [],
    )


def _elements_and_status(draw: Draw) -> Made:
    kinds = draw.count("kinds", 50, 1_000)
    text = "SELECT id, title FROM ticket WHERE labels @> ARRAY[%s] AND status = %s"
    rivals = ("ON ticket (status)", _gin("(labels)"))
    return (
        _worded(tickets(draw, kinds=kinds)),
        Statement(text, lambda r, _: (f"l{r.randrange(kinds)}", "closed"), rivals=rivals),
        [],
    )


def _json_and_range(draw: Draw) -> Made:
    kinds, least = draw.count("kinds", 50, 1_000), draw.of("least", [20, 400])
    text = "SELECT id, title FROM ticket WHERE doc @> %s::jsonb AND amount > %s"
    rivals = ("ON ticket (amount)", _gin("(doc jsonb_path_ops)"))
    return (
        _worded(tickets(draw, kinds=kinds)),
        Statement(text, lambda r, _: (json.dumps({"kind": r.randrange(kinds)}), least), rivals=rivals),
        [],
    )


def _beginning_and_equality(draw: Draw) -> Made:
    text = "SELECT id, title FROM ticket WHERE title LIKE %s AND agent = %s ORDER BY created DESC LIMIT 20"
    rivals = (
        "ON ticket (agent)", "ON ticket (title text_pattern_ops)", "ON ticket (agent, title text_pattern_ops)",
        "ON ticket (agent, created DESC)", "ON ticket (created DESC)", _gin(TRGM),
    )  # fmt: skip
    return (
        _worded(tickets(draw)),
        Statement(text, lambda r, _: (f"{r.choice(WORDS)} {r.choice(WORDS)[:2]}%", r.randint(1, 40)), rivals=rivals),
        [],
    )


def _elements_and_customer(draw: Draw) -> Made:
    kinds, customers = draw.count("kinds", 5, 50), draw.count("customers", 500, 5_000)
    text = "SELECT id, title FROM ticket WHERE labels && ARRAY[%s] AND customer = %s"
    rivals = ("ON ticket (customer)", _gin("(labels)"))
    return (
        _worded(tickets(draw, customers, kinds)),
        Statement(text, lambda r, _: (f"l{r.randrange(kinds)}", r.randint(1, customers)), rivals=rivals),
        [],
    )


def _frequent_pattern_and_order(draw: Draw) -> Made:
    text = "SELECT id, title FROM ticket WHERE title ILIKE %s ORDER BY created DESC LIMIT 20"
    rivals = ("ON ticket (created DESC)", _gin(TRGM))
    return _worded(tickets(draw)), Statement(text, lambda r, _: (f"%{r.choice(WORDS)}%",), rivals=rivals), []


def _two_patterns(draw: Draw) -> Made:
    text = "SELECT id, title FROM ticket WHERE title ILIKE %s AND email ILIKE %s"
    rivals = (_gin(TRGM), _gin("(email gin_trgm_ops)"), _gin("(title gin_trgm_ops, email gin_trgm_ops)"))
    return (
        _worded(tickets(draw)),
        Statement(text, lambda r, _: (f"%{r.choice(WORDS)}%", f"%{r.randint(1_000, LEAST_ROWS)}%"), rivals=rivals),
        [],
    )


def _several_and_order(draw: Draw) -> Made:
    customers = draw.count("customers", 20, 400)
    text = "SELECT id, title FROM ticket WHERE customer IN (%s, %s, %s) AND status = %s ORDER BY created DESC LIMIT 10"
    rivals = (
        "ON ticket (customer)", "ON ticket (customer, status)", "ON ticket (customer, created DESC)",
        "ON ticket (status, customer, created DESC)", "ON ticket (created DESC)",
    )  # fmt: skip
    return (
        _worded(tickets(draw, customers)),
        Statement(text, lambda r, _: (*(r.randint(1, customers) for _ in range(3)), "closed"), rivals=rivals),
        [],
    )


def _range_and_rare_status(draw: Draw) -> Made:
    share, days = draw.of("open_share", [0.001, 0.01]), draw.of("days", [30, 180])
    text = (
        "SELECT id, title FROM ticket WHERE created >= %s::timestamptz AND status = %s ORDER BY created DESC LIMIT 50"
    )
    since = "2025-12-01" if days == 30 else "2025-07-01"
    rivals = (
        "ON ticket (created DESC)", "ON ticket (status)", "ON ticket (status, created DESC)",
        "ON ticket (created DESC) WHERE status = 'open'",
    )  # fmt: skip
    return (
        _worded(tickets(draw, open_share=share)),
        Statement(text, lambda _, __: (since, "open"), rivals=rivals),
        [],
    )


PLANTS: dict[str, Callable[[Draw], Made]] = {
    "equality + pattern + order": _equality_pattern,
    "equality + range + order": _equality_range_order,
    "frequent value and rare pattern": _rare_pattern,
    "not archived": _not_archived,
    "open of a customer": _open_of_customer,
    "lower case and status": _lower_and_status,
    "elements and status": _elements_and_status,
    "JSON and range": _json_and_range,
    "beginning + equality + order": _beginning_and_equality,
    "frequent element and equality": _elements_and_customer,
    "frequent pattern and order": _frequent_pattern_and_order,
    "two patterns": _two_patterns,
    "several values + equality + order": _several_and_order,
    "range + rare status + order": _range_and_rare_status,
}


def _two_letters(draw: Draw) -> Made:
    text = "SELECT count(*) FROM ticket WHERE title ILIKE %s"
    return _worded(tickets(draw)), Statement(text, lambda r, _: (f"%{r.choice(WORDS)[:2]}%",)), []


def _indexed_and_pattern(draw: Draw) -> Made:
    customers = draw.count("customers", 500, 5_000)
    text = "SELECT id, title FROM ticket WHERE customer = %s AND title ILIKE %s"

    def values(random: Random, _: int) -> tuple[int, str]:
        return random.randint(1, customers), f"%{random.choice(WORDS)}%"

    made = [*_worded(tickets(draw, customers)), "CREATE INDEX there ON ticket (customer)"]
    return made, Statement(text, values), []


HEALTHIES: dict[str, Callable[[Draw], Made]] = {
    "pattern of two letters": _two_letters,
    "an index is there beside a pattern": _indexed_and_pattern,
}
