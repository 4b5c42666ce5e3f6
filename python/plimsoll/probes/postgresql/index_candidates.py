"""Which index could take the place of a sequential scan: by the operators of its filter, its join and its sort.

    = on columns or expressions        B-tree, equal columns first, then one range or the keys of a sort with a LIMIT
    < <= > >=                          B-tree
    LIKE 'word%'                       B-tree with text_pattern_ops, where the collation is not C
    LIKE '%word%', ILIKE, ~            GIN with gin_trgm_ops of pg_trgm; also where the pattern is not known
    @@ of a tsvector                   GIN
    @> ? ?| ?& of jsonb, && of arrays  GIN (jsonb_path_ops for @>)
    && @> <@ of ranges                 GiST

Columns of a join come as equalities. What an index cannot help (OR, <>, functions of the other side) gives none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plimsoll.probes.postgresql.expressions import Comparison, comparisons, has_parameter, plain_column, sort_key
from plimsoll.probes.postgresql.plans import Scan

MOST_EQUAL = 3
TSVECTOR, JSONB, TEXT, VARCHAR, BPCHAR = 3614, 3802, 25, 1043, 1042
RANGES = frozenset((3904, 3906, 3908, 3910, 3912, 3926, 4451, 4532, 4533, 4534, 4535, 4536))
ARRAYS = frozenset((1000, 1005, 1007, 1009, 1015, 1016, 1021, 1022, 1115, 1182, 1185, 1231, 2951))
_RANGE_OPERATORS = ("<", "<=", ">", ">=")
_PATTERNS = ("~~", "~~*", "~", "~*")
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
    """An index of a table. `kind` names what it serves; `asks`: the comparisons it answers, in words."""

    schema: str
    table: str
    method: str
    keys: tuple[Key, ...]
    kind: str
    needs: str = ""

    @property
    def definition(self) -> str:
        """What follows CREATE INDEX [CONCURRENTLY]."""
        keys = ", ".join(key.sql for key in self.keys)
        return f"ON {quoted(self.schema)}.{quoted(self.table)} USING {self.method} ({keys})"

    @property
    def is_known(self) -> bool:
        """Whether all of it is known; a JSON key that normalisation took out is not."""
        return not any(has_parameter(key.expression) for key in self.keys)


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


def candidates(scan: Scan, type_of: TypeOf, collation_is_c: bool) -> list[Candidate]:
    """The indexes that could serve a scan, the fullest first. `type_of` gives the object id of an expression's type."""
    asked = comparisons(scan.filter, scan.alias) if scan.filter else []
    joined = [one for one in comparisons(scan.join, scan.alias) if one.operator == "="] if scan.join else []
    found = list(_searches(scan, asked, type_of))
    equal = _distinct(Key(_plainer(one.left, scan, type_of)) for one in [*asked, *joined] if one.operator == "=")
    ranges = _distinct(Key(_plainer(one.left, scan, type_of)) for one in asked if one.operator in _RANGE_OPERATORS)
    prefixes = _distinct(_prefix(one, scan, type_of, collation_is_c) for one in asked if is_prefix(one))
    sorts = [Key(one[0], "", one[1]) for key in scan.sort_keys if (one := sort_key(key, scan.alias)) is not None]
    sorts = sorts if len(sorts) == len(scan.sort_keys) else []
    sorts = [key for key in sorts if key.expression not in {one.expression for one in equal}]
    kinds = "foreign key under DELETE" if scan.is_check else _kind(asked, joined, bool(sorts))
    found += [_btree(scan, keys, kinds) for keys in _orders(equal[:MOST_EQUAL], [*prefixes, *ranges], sorts)]
    return list(dict.fromkeys(found))


def is_prefix(one: Comparison) -> bool:
    """Whether it is LIKE with a known beginning."""
    pattern = one.right.lstrip("'")
    return one.operator == "~~" and one.right.startswith("'") and pattern[:1] not in ("%", "_", "")


def _orders(equal: Sequence[Key], ranges: Sequence[Key], sorts: Sequence[Key]) -> Iterator[tuple[Key, ...]]:
    """Orders of keys that a B-tree can use."""
    if sorts:
        yield (*equal, *sorts)
    for key in ranges:
        yield (*equal, key)
    if equal:
        yield tuple(equal)
    if len(equal) > 1:
        yield from ((key,) for key in equal)
    if equal:
        yield from ((key,) for key in ranges)


def _btree(scan: Scan, keys: tuple[Key, ...], kind: str) -> Candidate:
    return Candidate(scan.schema, scan.table, "btree", keys, kind)


def _kind(asked: Sequence[Comparison], joined: Sequence[Comparison], is_sorted: bool) -> str:
    words = []
    if joined:
        words.append("join")
    if any(one.operator == "=" for one in asked):
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
    for one in asked:
        kind = type_of(scan, one.left)
        if one.operator == "@@" and kind == TSVECTOR:
            yield Candidate(scan.schema, scan.table, "gin", (Key(one.left),), "full-text search")
        elif one.operator in ("@>", "?", "?|", "?&") and kind == JSONB:
            operator_class = "jsonb_path_ops" if one.operator == "@>" else ""
            yield Candidate(scan.schema, scan.table, "gin", (Key(one.left, operator_class),), "contents of JSON")
        elif one.operator in ("@>", "<@", "&&") and kind in ARRAYS:
            yield Candidate(scan.schema, scan.table, "gin", (Key(one.left),), "elements of an array")
        elif one.operator in ("@>", "<@", "&&") and kind in RANGES:
            yield Candidate(scan.schema, scan.table, "gist", (Key(one.left),), "overlap of ranges")
        elif one.operator in _PATTERNS and not is_prefix(one):
            key = Key(_plainer(one.left, scan, type_of), "gin_trgm_ops")
            yield Candidate(scan.schema, scan.table, "gin", (key,), "part of a text", needs="pg_trgm")


def _prefix(one: Comparison, scan: Scan, type_of: TypeOf, collation_is_c: bool) -> Key:
    return Key(_plainer(one.left, scan, type_of), "" if collation_is_c else "text_pattern_ops")


def _plainer(expression: str, scan: Scan, type_of: TypeOf) -> str:
    """Without the ::text that EXPLAIN prints behind a varchar column, which an index needs not repeat."""
    column = expression.removesuffix("::text").strip("()")
    if expression.endswith("::text") and plain_column(column) and type_of(scan, column) == VARCHAR:
        return column
    return expression


def _distinct(keys: Iterator[Key] | Sequence[Key]) -> list[Key]:
    return list(dict.fromkeys(keys))
