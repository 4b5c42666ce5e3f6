"""The contextual query language (CQL) of the catalogue's searches, as far as the inventory speaks it. Pure.

    query    = ["(" clauses ")"] ["sortby" key+]
    clauses  = clause (("and" | "or" | "not") clause)*        from left to right, all of equal rank, as CQL 1.2 has it
    clause   = "(" clauses ")" | [index relation] term
    relation = "=" | "==" | "<>" | "all" | "any" | "adj"
    key      = index ["/" ("ascending" | "descending" | "sort.ascending" | "sort.descending")]

A term is a bare word or "in quotes", where \\" and \\\\ stand for themselves. `all` and `=` want every word, `any`
one of them, `adj` the words next to each other in this order, `==` the whole field (title and id only), `<>` is
`not =`. A word may end with * (any ending); a term that is * alone means that the field is not empty. `a not b`
means a and not b. Words and relations are read without case, words without accents. Source: CQL 1.2 of the Library
of Congress, and the subset that FOLIO's modules document.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal, NoReturn

QUERY_LETTERS = 4000
CLAUSES_AT_MOST = 100
DEPTH_AT_MOST = 40
WORD_LETTERS = 64

TEXT_INDEXES = ("title", "contributors", "identifiers", "subjects")
EVERY_TEXT = "keyword"
ALL_RECORDS = "cql.allrecords"
EXACT_INDEXES = ("id", "hrid", "source", "instanceTypeId", "title")
SORT_INDEXES = ("title", "hrid", "id")

Relation = Literal["all", "any", "adj"]

_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|(<>|==|<=|>=|[=<>])|([()/])|([^\s"()=<>/]+))', re.DOTALL)
_BOOLEANS = ("and", "or", "not", "prox")
_RELATIONS = ("=", "==", "<>", "all", "any", "adj")
_UNSUPPORTED = ("<", ">", "<=", ">=", "within", "encloses", "exact")
_DIRECTIONS = {"ascending": False, "sort.ascending": False, "descending": True, "sort.descending": True}
_WORD = re.compile(r"[^\W_]+\*?")


class QueryMistake(Exception):
    """A query that cannot be understood; the message says what, at which letter, and what to write instead."""


@dataclass(frozen=True)
class Word:
    """A folded word; with `any_ending` it stands for all that begin with it."""

    text: str
    any_ending: bool = False


@dataclass(frozen=True)
class Words:
    """`relation` of the words in one text index, or in any of them (keyword)."""

    index: str
    relation: Relation
    words: tuple[Word, ...]


@dataclass(frozen=True)
class NotEmpty:
    """The field holds something."""

    index: str


@dataclass(frozen=True)
class Exactly:
    """The field is this value; folded for the title, as it is for the others."""

    index: str
    value: str


@dataclass(frozen=True)
class Everything:
    """cql.allRecords = 1."""


@dataclass(frozen=True)
class Combined:
    """Two clauses and what joins them; `not` is "and not"."""

    boolean: Literal["and", "or", "not"]
    left: Clause
    right: Clause


Clause = Words | NotEmpty | Exactly | Everything | Combined


@dataclass(frozen=True)
class SortKey:
    index: str
    descending: bool = False


@dataclass(frozen=True)
class Query:
    clause: Clause
    sort: tuple[SortKey, ...] = ()


def folded(text: str) -> str:
    """The words of a text in lower case without accents, one space between them; each at most WORD_LETTERS long."""
    return " ".join(word[:WORD_LETTERS] for word in re.findall(r"[^\W_]+", _plain(text)))


def parse_query(text: str) -> Query:
    """The query of that text; an empty one finds everything. Raises QueryMistake."""
    if len(text) > QUERY_LETTERS:
        raise QueryMistake(f"The query has {len(text)} letters. Send at most {QUERY_LETTERS}.")
    if "\0" in text:
        raise QueryMistake("The query holds a zero byte. Leave it out.")
    if not text.strip():
        return Query(Everything())
    return _Parser(text).query()


@dataclass(frozen=True)
class _Token:
    kind: Literal["quoted", "relation", "mark", "word", "end"]
    text: str
    at: int

    @property
    def lower(self) -> str:
        return self.text.lower() if self.kind in ("word", "relation", "mark") else ""


def _tokens(text: str) -> list[_Token]:
    found, at = [], 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:]
            if not rest.strip():
                break
            start = at + len(rest) - len(rest.lstrip())
            raise QueryMistake(
                f'The quote at letter {start + 1} is not closed. Write " at the end, and \\" for a quote.'
            )
        quoted, relation, mark, word = match.groups()
        start = match.start(match.lastindex or 0)
        if quoted is not None:
            found.append(_Token("quoted", re.sub(r"\\(.)", r"\1", quoted[1:-1], flags=re.DOTALL), start))
        elif relation is not None:
            found.append(_Token("relation", relation, start))
        elif mark is not None:
            found.append(_Token("mark", mark, start))
        else:
            found.append(_Token("word", word, start))
        at = match.end()
    return [*found, _Token("end", "", len(text))]


class _Parser:
    """Recursive descent; depth and number of clauses are bounded, so that no query exhausts the stack."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._clauses = 0

    def query(self) -> Query:
        if self._now.lower == "sortby":
            clause: Clause = Everything()
        else:
            clause = self._several(0)
        keys = self._sort_keys() if self._now.lower == "sortby" else ()
        if self._now.kind != "end":
            self._fail(self._now, "is not expected here", 'Join clauses by and, or, not; put "several words" in quotes')
        return Query(clause, keys)

    @property
    def _now(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        self._at = min(self._at + 1, len(self._tokens) - 1)
        return token

    def _several(self, depth: int) -> Clause:
        clause = self._one(depth)
        while self._now.lower in _BOOLEANS:
            boolean = self._take()
            if boolean.lower == "prox":
                self._fail(boolean, "is not supported", 'Use adj with "several words"')
            if self._now.text == "/" and self._now.kind == "mark":
                self._fail(self._now, "begins a modifier, which is not supported", "Leave it out")
            right = self._one(depth)
            clause = Combined(boolean.lower, clause, right)  # type: ignore[arg-type]  # one of the three
        return clause

    def _one(self, depth: int) -> Clause:
        token = self._take()
        self._clauses += 1
        if self._clauses > CLAUSES_AT_MOST or depth > DEPTH_AT_MOST:
            raise QueryMistake(
                f"The query has more than {CLAUSES_AT_MOST} clauses or {DEPTH_AT_MOST} levels of parentheses. "
                "Send a shorter one."
            )
        if token.kind == "mark" and token.text == "(":
            clause = self._several(depth + 1)
            closing = self._take()
            if closing.text != ")" or closing.kind != "mark":
                self._fail(closing, "stands where a ) is missing", f"Close the parenthesis of letter {token.at + 1}")
            return clause
        if token.kind not in ("word", "quoted") or token.lower in (*_BOOLEANS, "sortby"):
            self._fail(token, "stands where a clause should begin", 'Write for example title all "water"')
        relation = self._now.lower
        if relation in _UNSUPPORTED and self._is_relation():
            self._fail(self._now, "is not supported as a relation", f"Use one of {', '.join(_RELATIONS)}")
        if relation in _RELATIONS and self._is_relation():
            return self._clause_of(token, self._take().lower)
        return _words_clause(EVERY_TEXT, "all", token)

    def _is_relation(self) -> bool:
        """`all` alone is a word; with a term behind it, a relation."""
        following = self._tokens[self._at + 1] if self._at + 1 < len(self._tokens) else self._now
        return self._now.kind == "relation" or following.kind in ("word", "quoted")

    def _clause_of(self, index: _Token, relation: str) -> Clause:
        if self._now.text == "/" and self._now.kind == "mark":
            self._fail(self._now, "begins a modifier, which is not supported", "Leave it out")
        term = self._take()
        if term.kind not in ("word", "quoted"):
            self._fail(term, "stands where a term should be", 'Write for example "water"')
        return _clause(index, relation, term)

    def _sort_keys(self) -> tuple[SortKey, ...]:
        self._take()
        keys: list[SortKey] = []
        while self._now.kind == "word":
            token = self._take()
            index = _known(token.text, SORT_INDEXES)
            if index is None:
                self._fail(token, "is nothing to sort by", f"Use one of {', '.join(SORT_INDEXES)}")
            keys.append(SortKey(index, self._direction()))
        if not keys:
            self._fail(self._now, "stands where the sort key should be", "Write sortby title")
        return tuple(dict.fromkeys(keys))

    def _direction(self) -> bool:
        if self._now.text != "/" or self._now.kind != "mark":
            return False
        self._take()
        token = self._take()
        if token.lower not in _DIRECTIONS:
            self._fail(token, "is no direction", "Write sortby title/descending or title/ascending")
        return _DIRECTIONS[token.lower]

    def _fail(self, token: _Token, what: str, step: str) -> NoReturn:
        shown = "The end of the query" if token.kind == "end" else f"'{token.text[:40]}' at letter {token.at + 1}"
        raise QueryMistake(f"{shown} {what}. {step}.")


def _clause(index: _Token, relation: str, term: _Token) -> Clause:
    name = index.text
    if name.lower() == ALL_RECORDS:
        if term.text != "1" or relation not in ("=", "=="):
            raise QueryMistake("cql.allRecords takes = 1 only. Write cql.allRecords=1.")
        return Everything()
    exact = _known(name, EXACT_INDEXES)
    if relation == "==" or (exact is not None and exact != "title"):
        if exact is None:
            raise QueryMistake(f"== and {name[:40]} do not go together. Use == with one of {', '.join(EXACT_INDEXES)}.")
        if relation not in ("=", "==", "<>"):
            raise QueryMistake(f'{exact} takes = or <> only, not {relation}. Write {exact}=="…".')
        value = folded(term.text) if exact == "title" else term.text
        found: Clause = Exactly(exact, value)
    else:
        known = _known(name, (*TEXT_INDEXES, EVERY_TEXT, "cql.anywhere", "cql.serverChoice"))
        if known is None:
            choices = ", ".join((EVERY_TEXT, *TEXT_INDEXES, *EXACT_INDEXES[:-1], "cql.allRecords"))
            raise QueryMistake(f"There is no index '{name[:40]}' (letter {index.at + 1}). Use one of {choices}.")
        words = relation if relation in ("any", "adj") else "all"
        found = _words_clause(known if known in TEXT_INDEXES else EVERY_TEXT, words, term)  # type: ignore[arg-type]
    return Combined("not", Everything(), found) if relation == "<>" else found


def _words_clause(index: str, relation: Relation, term: _Token) -> Clause:
    if term.text.strip() == "*":
        return NotEmpty(index)
    if re.search(r"[*?](?=\w)|(?<!\w)[*?]|\?", term.text):
        raise QueryMistake(
            f"'{term.text[:40]}' at letter {term.at + 1} has a wildcard that is not at the end of a word, or a ?. "
            "Write * at the end only, as in wat*."
        )
    words = tuple(
        Word(word.rstrip("*")[:WORD_LETTERS], word.endswith("*")) for word in _WORD.findall(_plain(term.text))
    )
    if not words:
        raise QueryMistake(f"The term at letter {term.at + 1} holds no word. Write letters or digits.")
    if len(words) > CLAUSES_AT_MOST:
        raise QueryMistake(f"The term at letter {term.at + 1} has {len(words)} words. Send at most {CLAUSES_AT_MOST}.")
    if relation == "adj" and any(word.any_ending for word in words[:-1]):
        raise QueryMistake(f"In the adj term at letter {term.at + 1} only the last word may end with *.")
    return Words(index, relation, words)


def _known(name: str, names: tuple[str, ...]) -> str | None:
    return next((known for known in names if known.lower() == name.lower()), None)


def _plain(text: str) -> str:
    """Lower case without accents."""
    return "".join(
        letter for letter in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(letter)
    )
