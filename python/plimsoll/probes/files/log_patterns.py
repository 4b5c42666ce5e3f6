"""The kinds of lines that a log is searched for without being told, each with the words of the programs that write it.

A line is looked at only if it has one of a kind's needles, which is a hundred times cheaper than a regular expression
over all of them. Of a line at most 4,096 characters count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from plimsoll.study.probes.patterns import compiled

LONGEST_LINE = 4096
_FACTORS = {"ms": 1.0, "s": 1000.0}


@dataclass(frozen=True)
class Kind:
    """Lines in which `pattern` is found. `needles`: texts of which such a line has one; none: every line is looked
    at."""

    pattern: re.Pattern[str]
    needles: tuple[str, ...] = ()

    def matches(self, text: str) -> Iterator[tuple[re.Match[str], str]]:
        """Match and line, of each line of the text that is of this kind."""
        for line in self._lines(text):
            found = self.pattern.search(line, 0, LONGEST_LINE)
            if found is not None:
                yield found, line

    def _lines(self, text: str) -> Iterator[str]:
        if not self.needles:
            yield from text.splitlines()
            return
        starts: dict[int, int] = {}
        for needle in self.needles:
            place = text.find(needle)
            while place >= 0:
                start = text.rfind("\n", 0, place) + 1
                end = text.find("\n", place)
                end = len(text) if end < 0 else end
                starts[start] = end
                place = text.find(needle, end)
        for start in sorted(starts):
            yield text[start : starts[start]].rstrip("\r")


def kind_of(pattern: str) -> Kind:
    """A kind of the study's."""
    return Kind(compiled(pattern))


BUILT_IN: Mapping[str, Kind] = {
    # Linux' kernel (mm/oom_kill.c), systemd, Kubernetes
    "oom_killer": Kind(
        re.compile(
            r"(?:Out of memory|Memory cgroup out of memory): Kill(?:ed)? process|invoked oom-killer|"
            r"by the OOM killer|\bOOMKilled\b"
        ),
        ("ut of memory: Kill", "invoked oom-killer", "by the OOM killer", "OOMKilled"),
    ),
    # JVM, CPython, Node.js (V8), Go, C++, glibc, PostgreSQL
    "out_of_memory": Kind(
        re.compile(
            r"\bOutOfMemoryError\b|^MemoryError\b|heap out of memory|fatal error: out of memory|"
            r"runtime: out of memory|std::bad_alloc|Cannot allocate memory|\bENOMEM\b|ERROR:\s+out of memory"
        ),
        (
            "OutOfMemoryError", "MemoryError", "heap out of memory", ": out of memory", "std::bad_alloc",
            "Cannot allocate memory", "ENOMEM", "ERROR:  out of memory",
        ),
    ),
    # PostgreSQL (log_min_duration_statement), MySQL's slow log, MongoDB, and the words of many frameworks
    "slow_query": Kind(
        re.compile(
            r"\bduration: (?P<ms>\d+(?:\.\d+)?) ms\b|^# Query_time: (?P<s>\d+(?:\.\d+)?)\b|"
            r"\"Slow query\".{0,3000}?\"durationMillis\":(?P<ms2>\d+)|"
            r"\b[Ss](?:low|LOW) (?:[Qq]uery|QUERY|sql|SQL|[Ss]tatement|STATEMENT)\b"
            r"(?:[^\n]{0,200}?\b(?P<ms3>\d+(?:\.\d+)?) ?ms\b)?"
        ),
        ("duration: ", "# Query_time: ", '"Slow query"', "low query", "low Query", "low sql", "low SQL",
         "low statement", "LOW QUERY", "LOW SQL", "LOW STATEMENT"),
    ),
    # FOLIO's raml-module-builder, MySQL (log_queries_not_using_indexes), MongoDB, and others in words
    "missing_index": Kind(
        re.compile(
            r"\b[Mm]issing(?: an)? index\b|\b[Ww]ithout(?: an)? index\b|\b[Nn]o (?:usable |suitable )?index\b|"
            r"\b[Nn]ot using (?:an )?index|\"planSummary\":\"COLLSCAN\""
        ),
        ("issing index", "issing an index", "ithout index", "ithout an index", "o index", "o usable index",
         "o suitable index", "ot using index", "ot using an index", '"COLLSCAN"'),
    ),
    # The line where a trace begins: Python, JVM, Go, Rust, Node.js, .NET
    "stack_trace": Kind(
        re.compile(
            r"^Traceback \(most recent call last\):|^Exception in thread \"|^panic: |^thread '[^']*'.* panicked at|"
            r"^(?!Caused by)(?:[\w$]+\.)+\w*(?:Exception|Error)(?=:|$)|^(?:Uncaught )?\w*Error: |^Unhandled exception"
        ),
        ("Traceback (most", "Exception", "panic: ", "panicked at", "Error:", "Error\n", "Unhandled exception"),
    ),
    # A level as a word in capitals, or as logfmt and JSON have it
    "error_level": Kind(
        re.compile(
            r"\b(?:ERROR|FATAL|PANIC|CRITICAL|SEVERE|EMERG)(?=[]\s|:,\"]|$)|"
            r"\blevel=\"?(?:error|fatal|critical|panic)\b|"
            r"\"(?:level|severity|log\.level)\"\s*:\s*\"(?i:error|fatal|critical|emergency)\""
        ),
        ("ERROR", "FATAL", "PANIC", "CRITICAL", "SEVERE", "EMERG", "level=error", 'level="error', "level=fatal",
         'level="fatal', "level=critical", "level=panic", '"error"', '"fatal"', '"critical"', '"Error"'),
    ),
}  # fmt: skip


def number_in(match: re.Match[str]) -> tuple[str, float] | None:
    """The number of a match and what it is, "ms" or "value"; None where it has none. Seconds become ms."""
    for group, text in match.groupdict().items():
        if text is None:
            continue
        bare = group.rstrip("0123456789")
        try:
            if bare in _FACTORS:
                return "ms", float(text) * _FACTORS[bare]
            if bare == "value":
                return "value", float(text)
        except ValueError:
            continue
    return None
