"""All formats, in the order in which they are tried; a file is recognised by what it holds, never by its name."""

from __future__ import annotations

from plimsoll.errors import InputError
from plimsoll.nearest_word import nearest
from plimsoll.runs.importers import level_table, oha, vegeta, vegeta_report, wrk
from plimsoll.runs.importers.gatling import binary as gatling_binary
from plimsoll.runs.importers.gatling import text as gatling_text
from plimsoll.runs.importers.jmeter import jtl_csv, jtl_xml
from plimsoll.runs.importers.k6 import csv_samples as k6_csv
from plimsoll.runs.importers.k6 import json_samples as k6_json
from plimsoll.runs.importers.k6 import summary as k6_summary
from plimsoll.runs.importers.lines import SourceFile
from plimsoll.runs.importers.locust import history as locust_history
from plimsoll.runs.importers.locust import requests as locust_requests
from plimsoll.runs.importers.locust import stats as locust_stats
from plimsoll.runs.importers.source import Format

FORMATS: tuple[Format, ...] = (
    gatling_binary.FORMAT,
    gatling_text.FORMAT,
    jtl_xml.FORMAT,
    jtl_csv.FORMAT,
    k6_json.FORMAT,
    k6_csv.FORMAT,
    vegeta.JSON,
    vegeta_report.FORMAT,
    oha.FORMAT,
    k6_summary.FORMAT,
    locust_history.FORMAT,
    locust_requests.FORMAT,
    locust_stats.FORMAT,
    vegeta.CSV,
    wrk.WRK2_FORMAT,
    wrk.FORMAT,
    level_table.FORMAT,
)
_AS_TABLE = "Write its figures as a table of levels: users, throughput (/s), p95 (ms) (docs/analyze.md)."
# What is known not to be read, by words at its beginning: (words, what it is, what to do).
_KNOWN_OTHERS = (
    (("Attack", "Seq", "Timestamp"), "results of vegeta in its own binary form", "Run `vegeta encode FILE` first."),
    (("PK\x03\x04",), "a zip archive or a spreadsheet", "Unpack it, or save the sheet as CSV."),
    (("PAR1",), "a Parquet file", "Save it as CSV."),
    (
        ('"log"', '"creator"'),
        "a HAR, the requests of one browser",
        "Give the results of a load test; a HAR has no load.",
    ),
    (("<html",), "a web page", "Give the raw results that the report was made from."),
    (('"transaction"', '"samplecount"'), "the statistics of JMeter's dashboard", "Give the JTL that it was made from."),
    (('"numberofrequests"',), "the statistics of Gatling's report", "Give the simulation.log that it was made from."),
    (("\trun\t",), "a simulation.log of Gatling 2.0 or 2.1", "Give one of Gatling 2.2 or later."),
    (("method,name,error,occurrences",), "Locust's list of failures", "Give its …_stats_history.csv or …_stats.csv."),
    (('"aggregate"', '"counters"'), "a report of Artillery, which is not read", _AS_TABLE),
    (("response-time,dns+dialup",), "a result of hey, which is not read", _AS_TABLE),
    (("this is apachebench",), "a result of ApacheBench, which is not read", _AS_TABLE),
)


def format_of(file: SourceFile, name: str | None = None) -> Format:
    """The format of that name, else the one that its content shows. InputError if it is none of them."""
    head = file.head().decode("utf-8-sig", errors="replace")
    if name is not None:
        return format_named(name)
    found = next((one for one in FORMATS if one.looks_like(head)), None)
    if found is None:
        raise _unknown(file, head)
    return found


def _unknown(file: SourceFile, head: str) -> InputError:
    begin = head[:400].lower()
    for words, what, step in _KNOWN_OTHERS:
        if all(word.lower() in begin for word in words):
            return InputError(f"this is {what}", step, file=file.path)
    if jtl_csv.lacks_names(head):
        return InputError(jtl_csv.NAMES_MISSING, jtl_csv.NAMES_STEP, file=file.path)
    first = head.split("\n", 1)[0][:60]
    step = (
        "Known are JMeter, k6, Locust, Gatling, vegeta, oha, wrk, wrk2 and tables whose headings name a level or a "
        f"throughput (docs/analyze.md). Force one with --format ({format_names()})."
    )
    return InputError(f"no known tool writes this; it begins with {first!r}", step, file=file.path)


def format_named(name: str) -> Format:
    """The format of that name; InputError otherwise."""
    for one in FORMATS:
        if one.name == name:
            return one
    step = f"{nearest(name, [one.name for one in FORMATS], '')} The formats are {format_names()}.".strip()
    raise InputError(f"--format {name} is not known", step)


def format_names() -> str:
    """All names, for messages."""
    return ", ".join(one.name for one in FORMATS)
