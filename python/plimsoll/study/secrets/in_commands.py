"""Secrets in shell commands, by one rule: words as the shell divides them, and of these

- the value of NAME=value, --name=value and --name value, where the name tells (DB_PASS, --password, -Dapp.token);
- the password of user:password after -u, --user and their like;
- a header after -H, --header, or in quotes, whose name tells; cookies after -b, --cookie of curl;
- the value of short flags of well-known programs (`mysql -pSECRET`, `redis-cli -a SECRET`).

What stands in quotes and has spaces is a command of its own (`sh -c '…'`). A variable ($NAME) is no secret, what it
means is. What only the program knows to be a secret cannot be known: `./login admin SECRET`, `echo SECRET | …`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from plimsoll.study.secrets.names import HIDDEN, SCHEMES, is_secret_key, is_secret_name

Kind = Literal["value", "attached", "pair", "header", "cookies"]

_TOKEN = re.compile(r"(?P<end>[;|&()\n])|[<>]|(?:[^\s'\"\\;|&()<>]|\\.|'[^']*'|\"(?:[^\"\\]|\\.)*\")+", re.DOTALL)
_ASSIGNMENT = re.compile(r"-{0,2}(?P<name>[A-Za-z_][\w.\-]*)=")
_LONG_FLAG = re.compile(r"--?(?P<name>[A-Za-z][\w\-]+)$")
_HEADER = re.compile(
    rf"(?P<name>[A-Za-z][\w\-]*)\s*:\s*(?:(?:{SCHEMES}|Digest)\s+)?(?P<value>\S.*)", re.DOTALL | re.IGNORECASE
)
_BEFORE_VARIABLES = {"-e", "--env", "export", "env"}  # what is quoted after them is a variable, not a command
_VARIABLE = re.compile(r"\$(?:(?P<name>\w+)|\{(?P<braced>\w+)\})?$|`")
_FLAGS: dict[str, Kind] = {
    "-u": "pair",
    "--user": "pair",
    "--proxy-user": "pair",
    "--auth": "pair",
    "-H": "header",
    "--header": "header",
    "--cookie": "cookies",
}
_FLAGS_BY_PROGRAM: dict[str, dict[str, Kind]] = {
    r"(?:mysql|mariadb)[\w\-]*|7z\w?": {"-p": "attached"},
    r"sshpass|mongo\w*|cqlsh|rabbitmqadmin|login": {"-p": "value"},
    r"redis-cli": {"-a": "value"},
    r"sqlcmd|bcp|mosquitto_\w+|zip|unzip": {"-P": "value"},
    r"ldap\w+": {"-w": "value"},
    r"curl": {"-u": "pair", "-U": "pair", "-H": "header", "-b": "cookies"},
    r"ab": {"-A": "pair", "-P": "pair", "-C": "cookies"},
    r"https?|xh|hey|oha": {"-a": "pair"},
}
_FLAGS_OF = [(re.compile(programs), flags) for programs, flags in _FLAGS_BY_PROGRAM.items()]


@dataclass(frozen=True)
class _Found:
    """Where a secret stands in a command."""

    begin: int
    end: int
    kind: Kind


def hide_in_command(text: str) -> str:
    """The command with "***" in place of its secrets; what only any text tells (URLs, JSON) stays."""
    for found in sorted(_found(text, 0, len(text)), key=lambda one: one.begin, reverse=True):
        text = f"{text[: found.begin]}{HIDDEN}{text[found.end :]}"
    return text


def secrets_of_command(text: str, environment: Mapping[str, str]) -> Iterator[str]:
    """The secrets themselves, of variables what they mean in that environment."""
    for found in _found(text, 0, len(text), variables=True):
        value = text[found.begin : found.end]
        variable = _VARIABLE.match(value)
        if variable is not None:
            yield environment.get(variable["name"] or variable["braced"] or "", "")
            continue
        yield from (value, re.sub(r"\\(.)", r"\1", value))
        if found.kind in ("header", "cookies"):
            yield from values_of_cookies(value)


def values_of_cookies(text: str) -> Iterator[str]:
    """Of `a=1; b=2` 1 and 2."""
    for part in text.split(";"):
        _, named, value = part.strip().partition("=")
        if named:
            yield value.strip('"')


def _found(text: str, begin: int, end: int, variables: bool = False) -> Iterator[_Found]:
    for one in _secrets(text, begin, end):
        if one.begin < one.end and (variables or not _VARIABLE.match(text[one.begin : one.end])):
            yield one


def _secrets(text: str, begin: int, end: int) -> Iterator[_Found]:
    programs: set[str] = set()
    awaited: Kind | None = None
    before = ""
    for token in _TOKEN.finditer(text, begin, end):
        if token["end"]:
            programs, awaited, before = set(), None, ""
            continue
        first, last = _without_quotes(text, token.start(), token.end())
        kind, awaited = awaited, None
        previous, before = before, text[first:last]
        is_quoted = first > token.start() and bool(re.search(r"\s", before)) and previous not in _BEFORE_VARIABLES
        if kind is not None and not (kind == "value" and text[first] == "-"):
            yield from _of_kind(kind, text, first, last)
        elif is_quoted:
            header = list(_of_kind("header", text, first, last))
            yield from header or _secrets(text, first, last)
        elif assignment := _ASSIGNMENT.match(text, first, last):
            yield from _of_assignment(assignment, text, last)
        elif text.startswith("-", first):
            awaited = _awaited(text[first:last], programs)
            if awaited is None:
                yield from _attached(text, first, last, programs)
        elif text.startswith("pass:", first):  # of openssl
            yield _Found(first + len("pass:"), last, "value")
        else:
            programs.add(text[first:last].rpartition("/")[2])


def _without_quotes(text: str, begin: int, end: int) -> tuple[int, int]:
    """What stands between quotes, where these are around all of it."""
    quote = text[begin] if begin < end else ""
    whole = quote in ("'", '"') and quote != "" and end - begin >= 2 and text.find(quote, begin + 1) == end - 1
    whole = whole or (quote == '"' and bool(re.fullmatch(r'"(?:[^"\\]|\\.)*"', text[begin:end], re.DOTALL)))
    return (begin + 1, end - 1) if whole else (begin, end)


def _of_assignment(assignment: re.Match[str], text: str, last: int) -> Iterator[_Found]:
    begin, end = _without_quotes(text, assignment.end(), last)
    flag = _FLAGS.get(text[assignment.start() : assignment.end() - 1])
    if is_secret_name(assignment["name"]):
        yield _Found(begin, end, "value")
    elif flag is not None:
        yield from _of_kind(flag, text, begin, end)
    elif begin > assignment.end():
        yield from _secrets(text, begin, end)


def _awaited(flag: str, programs: set[str]) -> Kind | None:
    """What the word after that flag is; None where it is nothing secret."""
    for kinds in _flags_of(programs):
        if flag in kinds and kinds[flag] != "attached":
            return kinds[flag]
    long = _LONG_FLAG.match(flag)
    if flag in _FLAGS:
        return _FLAGS[flag]
    return "value" if long is not None and is_secret_name(long["name"]) else None


def _attached(text: str, first: int, last: int, programs: set[str]) -> Iterator[_Found]:
    """A short flag with its value in one word."""
    for kinds in _flags_of(programs):
        kind = kinds.get(text[first : first + 2])
        if kind is not None and last > first + 2:
            begin, end = _without_quotes(text, first + 2, last)
            yield from _of_kind("value" if kind == "attached" else kind, text, begin, end)
            return


def _flags_of(programs: set[str]) -> Iterator[Mapping[str, Kind]]:
    for pattern, kinds in _FLAGS_OF:
        if any(pattern.fullmatch(program) for program in programs):
            yield kinds


def _of_kind(kind: Kind, text: str, begin: int, end: int) -> Iterator[_Found]:
    given = text[begin:end]
    if kind == "pair":
        user, divided, password = given.partition(":")
        if divided and not (user.isdigit() and password.isdigit()) and not password.startswith("//"):
            yield _Found(begin + len(user) + 1, end, kind)
    elif kind == "header":
        header = _HEADER.fullmatch(given)
        if header is not None and is_secret_key(header["name"]):
            yield _Found(begin + header.start("value"), end, kind)
    elif kind != "cookies" or "=" in given:
        yield _Found(begin, end, kind)
