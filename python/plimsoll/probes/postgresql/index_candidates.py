"""Which index could take the place of a scan: by the operators of its filter, its join and its sort.

    = IN, IS NULL, booleans            B-tree, equal columns first, then one range or the keys of a sort with a LIMIT
    < <= > >=                          B-tree
    LIKE 'word%'                       B-tree with text_pattern_ops, where the collation is not C
    LIKE '%word%', ILIKE, ~            GIN with gin_trgm_ops of pg_trgm; also where the pattern is not known
    @@ of a tsvector                   GIN
    @> ? ?| ?& of jsonb, && of arrays  GIN (jsonb_path_ops for @>)
    && @> <@ of ranges                 GiST
    = beside one of the three above    GIN of both with btree_gin
    a constant of the application      partial: it stands in WHERE of the index in place of a key

A condition with several of these gives all of them: which is best the planner, a run or an estimate says
(index_choice.py). Columns of a join come as equalities. What an index cannot help (OR, <>, functions of the other side)
gives none. Only a B-tree gives rows in an order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from plimsoll.probes.postgresql.expressions import IS, Comparison, comparisons, has_parameter, plain_column, sort_key
from plimsoll.probes.postgresql.plans import Scan

MOST_EQUAL = 3
MOST_CANDIDATES = 24
TSVECTOR, JSONB, TEXT, VARCHAR, BPCHAR = 3614, 3802, 25, 1043, 1042
RANGES = frozenset((3904, 3906, 3908, 3910, 3912, 3926, 4451, 4532, 4533, 4534, 4535, 4536))
ARRAYS = frozenset((1000, 1005, 1007, 1009, 1015, 1016, 1021, 1022, 1115, 1182, 1185, 1231, 2951))
_RANGE_OPERATORS = ("<", "<=", ">", ">=")
_PATTERNS = ("~~", "~~*", "~", "~*")
Item = TypeVar("Item")
TypeOf = Callable[[Scan, str], int | None]


@dataclass(frozen=True)
class Key:
    """A key of an index: an expression, its operator class and direction ("" for the defaults)."""

    expression: str
    operator_class: str = ""
    direction: str = ""

    @property
    def sql(self) -> str:
        """As it stands in CREATE INDEX."""
        expression = self.expression if plain_column(self.expression) else f"({self.expression})"
        return " ".join(filter(None, (expression, self.operator_class, self.direction)))


@dataclass(frozen=True)
class Candidate:
    """An index of a table. `kind` names what it serves; `answers`: the conditions, as the scan has them, whose rows it
    finds by itself; `predicate`: of a partial one; `needs`: the extensions of its operator classes; `gives_order`: its
    rows come in the order of the sort, so that the first ones are enough."""

    schema: str
    table: str
    method: str
    keys: tuple[Key, ...]
    kind: str
    needs: tuple[str, ...] = ()
    predicate: str = ""
    answers: tuple[str, ...] = ()
    gives_order: bool = False

    @property
    def definition(self) -> str:
        """What follows CREATE INDEX [CONCURRENTLY]."""
        keys = ", ".join(key.sql for key in self.keys)
        where = f" WHERE {self.predicate}" if self.predicate else ""
        return f"ON {quoted(self.schema)}.{quoted(self.table)} USING {self.method} ({keys}){where}"

    @property
    def is_known(self) -> bool:
        """Whether all of it is known; a JSON key that normalisation took out is not."""
        return not any(has_parameter(text) for text in (self.predicate, *(key.expression for key in self.keys)))


def quoted(name: str) -> str:
    """An identifier, in quotes where it needs them."""
    is_plain = name.isascii() and name.islower() and name.replace("_", "a").isalnum() and not name[0].isdigit()
    return name if is_plain and name not in _RESERVED else '"' + name.replace('"', '""') + '"'


_RESERVED = frozenset((
    "all", "analyse", "analyze", "and", "any", "array", "as", "asc", "both", "case", "cast", "check", "collate",
    "column", "constraint", "create", "current_date", "default", "desc", "distinct", "do", "else", "end", "except",
    "false", "fetch", "for", "foreign", "from", "grant", "group", "having", "in", "initially", "intersect", "into",
    "leading", "limit", "not", "null", "offset", "on", "only", "or", "order", "placing", "primary", "references",
    "returning", "select", "some", "table", "then", "to", "trailing", "true", "union", "unique", "user", "using",
    "when", "where", "window", "with",
))  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    """A key that a B-tree may have for a condition, and that condition."""

    key: Key
    condition: str


def candidates(
    scan: Scan, type_of: TypeOf, collation_is_c: bool, own: Collection[str] = (), *, has_btree_gin: bool = False
) -> list[Candidate]:
    """The indexes that could serve a scan, those of searches first, then the fullest. `type_of` gives the object id of
    an expression's type; `own`: the conditions whose constant stands in the application's text, always the same."""
    asked = comparisons(scan.filter, scan.alias) if scan.filter else []
    joined = [one for one in comparisons(scan.join, scan.alias) if one.operator == "="] if scan.join else []
    searches = list(_searches(scan, asked, type_of))

    def key_of(one: Comparison) -> Key:
        return Key(_plainer(one.left, scan, type_of))

    plain = [_Asked(key_of(one), one.text) for one in asked if one.operator == "="]
    equal = _distinct([*plain, *(_Asked(key_of(one), "") for one in joined)])[:MOST_EQUAL]
    fixed = [_Asked(Key(one.left), one.text) for one in asked if one.operator == IS and one.right != "NOT NULL"]
    ranges = _distinct([
        *(_Asked(_prefix(one, scan, type_of, collation_is_c), one.text) for one in asked if is_prefix(one)),
        *(_Asked(key_of(one), one.text) for one in asked if one.operator in _RANGE_OPERATORS),
    ])  # fmt: skip
    sorts = [Key(one[0], "", one[1]) for key in scan.sort_keys if (one := sort_key(key, scan.alias)) is not None]
    sorts = sorts if len(sorts) == len(scan.sort_keys) else []
    serves = "foreign key under DELETE" if scan.is_check else _kind(asked, joined, False)
    found = [*searches, *(_with_equal(scan, equal, one) for one in searches if has_btree_gin and equal)]
    for predicate in _predicates(asked, own):
        rest = [one for one in equal if one.condition not in predicate]
        flags = [one for one in fixed if one.condition not in predicate]
        for keys, answers, gives_order in _orders(rest, flags, ranges, sorts):
            words = " and ".join(filter(None, (serves, "order" if gives_order else "")))
            made = Candidate(
                scan.schema, scan.table, "btree", keys, words, (), " AND ".join(map(_bracketed, predicate))
            )
            found.append(replace(made, answers=tuple(dict.fromkeys((*predicate, *answers))), gives_order=gives_order))
    return list({one.definition: one for one in reversed(found)}.values())[::-1][:MOST_CANDIDATES]


def _predicates(asked: Sequence[Comparison], own: Collection[str]) -> list[tuple[str, ...]]:
    """What may stand in WHERE of an index, nothing first: conditions without a value that changes."""
    fixed = tuple(one.text for one in asked if one.operator == IS or (one.operator == "=" and one.text in own))
    return [(), fixed] if fixed else [()]


def _bracketed(condition: str) -> str:
    return f"({condition})"


def is_prefix(one: Comparison) -> bool:
    """Whether it is LIKE with a known beginning."""
    pattern = one.right.lstrip("'")
    return one.operator == "~~" and one.right.startswith("'") and pattern[:1] not in ("%", "_", "")


_Order = tuple[tuple[Key, ...], tuple[str, ...], bool]


def _orders(
    equal: Sequence[_Asked], fixed: Sequence[_Asked], ranges: Sequence[_Asked], sorts: Sequence[Key]
) -> Iterator[_Order]:
    """Orders of keys that a B-tree can use, what each answers, and whether it gives the order of the sort."""
    groups = _distinct([(*equal, *fixed), tuple(equal), *((one,) for one in equal), ()])
    for group in groups:
        first, answers = [one.key for one in group], tuple(one.condition for one in group if one.condition)
        known = {key.expression for key in first}
        behind = [key for key in sorts if key.expression not in known]
        is_whole = len(group) >= len(equal)
        if behind and (is_whole or not group):
            yield (*first, *behind), answers, True
            for one in ranges if is_whole else ():
                if one.key.expression in {key.expression for key in behind}:
                    continue
                yield (*first, *behind, one.key), (*answers, one.condition), True
        elif sorts and group and not behind:
            yield tuple(first), answers, True
        for one in ranges:
            same = [other.condition for other in ranges if other.key.expression == one.key.expression]
            yield (*first, one.key), (*answers, *same), False
        if group and not (sorts and not behind):
            yield tuple(first), answers, False


def _with_equal(scan: Scan, equal: Sequence[_Asked], search: Candidate) -> Candidate:
    """A search's index with the equal columns in front, by btree_gin."""
    keys = tuple(one.key for one in equal)
    answers = (*(one.condition for one in equal if one.condition), *search.answers)
    needs = tuple(dict.fromkeys(("btree_gin", *search.needs)))
    return replace(search, keys=(*keys, *search.keys), kind=f"equality and {search.kind}", needs=needs, answers=answers)


def _kind(asked: Sequence[Comparison], joined: Sequence[Comparison], is_sorted: bool) -> str:
    words = []
    if joined:
        words.append("join")
    if any(one.operator == "=" or (one.operator == IS and one.right != "NOT NULL") for one in asked):
        words.append("equality")
    if any(one.operator in _RANGE_OPERATORS for one in asked):
        words.append("range")
    if any(is_prefix(one) for one in asked):
        words.append("beginning of a text")
    if is_sorted:
        words.append("order")
    return " and ".join(words)


def _searches(scan: Scan, asked: Sequence[Comparison], type_of: TypeOf) -> Iterator[Candidate]:
    """Indexes for operators that no B-tree serves."""

    def made(method: str, key: Key, kind: str, *needs: str) -> Candidate:
        return Candidate(scan.schema, scan.table, method, (key,), kind, needs, answers=(one.text,))

    for one in asked:
        kind = type_of(scan, one.left) if one.operator != IS else None
        if one.operator == "@@" and kind == TSVECTOR:
            yield made("gin", Key(one.left), "full-text search")
        elif one.operator in ("@>", "?", "?|", "?&") and kind == JSONB:
            yield made("gin", Key(one.left, "jsonb_path_ops" if one.operator == "@>" else ""), "contents of JSON")
        elif one.operator in ("@>", "<@", "&&") and kind in ARRAYS:
            yield made("gin", Key(one.left), "elements of an array")
        elif one.operator in ("@>", "<@", "&&") and kind in RANGES:
            yield made("gist", Key(one.left), "overlap of ranges")
        elif one.operator in _PATTERNS and not is_prefix(one):
            yield made("gin", Key(_plainer(one.left, scan, type_of), "gin_trgm_ops"), "part of a text", "pg_trgm")


def _prefix(one: Comparison, scan: Scan, type_of: TypeOf, collation_is_c: bool) -> Key:
    return Key(_plainer(one.left, scan, type_of), "" if collation_is_c else "text_pattern_ops")


def _plainer(expression: str, scan: Scan, type_of: TypeOf) -> str:
    """Without the ::text that EXPLAIN prints behind a varchar column, which an index needs not repeat."""
    column = expression.removesuffix("::text").strip("()")
    if expression.endswith("::text") and plain_column(column) and type_of(scan, column) == VARCHAR:
        return column
    return expression


def _distinct(items: Sequence[Item]) -> list[Item]:
    return list(dict.fromkeys(items))
