"""What a plain run did, as the first rows of page and screen: thresholds with what the exit code compared, checks,
requests that failed, the generator; the gravest first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from plimsoll.listed_names import listed
from plimsoll.report import wording
from plimsoll.report.finding_view import FEW_MET, GENERATOR, DecidedRow, FindingView, section, view
from plimsoll.report.wording import is_number
from plimsoll.runs.readings.script_outcomes import unopened, unopened_words
from plimsoll.runs.readings.thresholds import NO_ANSWER

DID, NOTHING_RECORDED = "What did it do?", "Nothing was recorded."
MOST_NAMED = 3  # checks that failed, causes of failed requests
_SENTENCE_END = re.compile(r"(?<=[.!?]) +(?=[A-Z0-9])")
_ANSWERED = re.compile(r"^(?:Yes|No)(?:: |\.$)")
_STATISTIC = re.compile(r"[^<>=!]+")
_GRAVITY = {"bad": 0, "open": 1, "good": 2}  # by the key of a row
_KEYS = {"passed": "good", "failed": "bad"}


def views_of(findings: Iterable[Mapping[str, Any]], unit: str = "users") -> list[FindingView]:
    """The findings in words; what a plain run did comes before what its generator did."""
    found = []
    for finding in findings:
        main, outcome = view(finding, unit), section(finding, "outcome")
        if outcome:
            found.append(_outcome_view(main, outcome, finding))
            main = replace(main, reasons=[], decided=[])
        found.append(main)
    return found


def _outcome_view(main: FindingView, outcome: Mapping[str, Any], finding: Mapping[str, Any]) -> FindingView:
    rows = outcome_rows(outcome)
    decided = _gravest_first([*rows, *_generator_row(finding)])
    lasted_s = outcome.get("lasted_s")
    facts = [("Rates are over", f"{wording.number(lasted_s)} s")] if is_number(lasted_s) else []
    answer = str(outcome.get("words") or NOTHING_RECORDED)
    told = replace(main, question=DID, answer=answer, facts=facts, rests_on=[], cautions=[], caveats=[], next_steps=[])
    return replace(told, decided=decided, outcome=rows)


def outcome_rows(outcome: Mapping[str, Any]) -> list[DecidedRow]:
    """A row for each threshold, for all checks and all requests; of many thresholds that passed few have their own."""
    thresholds = [_threshold_row(one) for one in outcome.get("thresholds") or () if isinstance(one, Mapping)]
    checks = [one for one in outcome.get("checks") or () if isinstance(one, Mapping)]
    rows = [
        *_ended_row(outcome),
        *_folded(thresholds),
        *_check_row(checks),
        *_request_row(outcome),
        *_socket_row(outcome),
    ]
    return _gravest_first(rows)


def _gravest_first(rows: Iterable[DecidedRow]) -> list[DecidedRow]:
    return sorted(rows, key=lambda one: _GRAVITY[one.key])


def _threshold_row(one: Mapping[str, Any]) -> DecidedRow:
    verdict, why = str(one.get("verdict")), str(one.get("why") or "")
    key, badge = _KEYS.get(verdict, "open"), f"? {why}" if verdict == "undecided" else wording.verdict(verdict)
    subject, observed = f"{one.get('metric')} {one.get('rule')}", one.get("observed")
    if verdict == "undecided":
        return DecidedRow(subject, key, badge, "It saw no sample, so it neither passed nor failed.")
    if why == NO_ANSWER or not is_number(observed):
        return DecidedRow(subject, key, badge, _sentence(why))
    statistic = _STATISTIC.match(str(one.get("rule")))
    at_end = f" at the end; {why} before" if why else ""
    value = f"{statistic[0].strip() if statistic else 'It'} was {_amount(observed, one.get('unit'))}{at_end}."
    return DecidedRow(subject, key, badge, value)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}." if words else ""


def _amount(value: float, unit: Any) -> str:
    match unit:
        case "ms":
            return wording.milliseconds(value)
        case "ratio":
            return wording.percent(value)
        case "bytes":
            return wording.size(value)
        case _:
            return wording.number(value)


def _folded(rows: Sequence[DecidedRow]) -> Iterator[DecidedRow]:
    passed = [one for one in rows if one.key == "good"]
    folded = passed[FEW_MET:] if len(passed) > FEW_MET + 1 else []
    yield from (one for one in rows if one not in folded)
    if folded:
        subjects = "; ".join(one.subject for one in folded)
        yield DecidedRow(f"{len(folded)} other thresholds", "good", wording.verdict("passed"), subjects)


def _check_row(checks: Sequence[Mapping[str, Any]]) -> Iterator[DecidedRow]:
    """How many checks failed, of how many that were made, and which."""
    counted = [(_check_name(one), one["passes"], one["fails"]) for one in checks if _is_counted(one)]
    total, fails = sum(passes + failed for _, passes, failed in counted), sum(failed for *_, failed in counted)
    if not total:
        return
    if not fails:
        yield DecidedRow("checks", "good", f"✓ all {wording.number(total)} passed", "")
        return
    named = [f"{name}: {_of(failed, passes + failed)}" for name, passes, failed in counted if failed and name]
    badge = f"✗ {_of(fails, total)} failed"
    yield DecidedRow("checks", "bad", badge, listed(named, MOST_NAMED, "; "))


def _is_counted(check: Mapping[str, Any]) -> bool:
    return is_number(check.get("passes")) and is_number(check.get("fails"))


def _check_name(check: Mapping[str, Any]) -> str:
    """ "has items (cart)"."""
    name, group = str(check.get("name") or ""), str(check.get("group") or "").removeprefix("::")
    return f"{name} ({group})" if name and group else name


def _request_row(outcome: Mapping[str, Any]) -> Iterator[DecidedRow]:
    """How many requests failed, of how many, and why."""
    total, failed = outcome.get("requests"), outcome.get("failed")
    if not is_number(total) or not total or not is_number(failed):
        return
    if not failed:
        yield DecidedRow("requests", "good", f"✓ none of {wording.number(total)} failed", "")
        return
    causes = sorted(section(outcome, "causes").items(), key=lambda one: -one[1])
    words = listed([f"{wording.number(count)} × {cause}" for cause, count in causes], MOST_NAMED)
    yield DecidedRow("requests", "bad", f"✗ {_of(failed, total)} failed", words)


def _socket_row(outcome: Mapping[str, Any]) -> Iterator[DecidedRow]:
    """How many WebSockets did not open, of how many, and why."""
    counts = {name: count for name, count in section(outcome, "sockets").items() if is_number(count)}
    missing, total = unopened(counts), sum(counts.values())
    if missing:
        badge = f"✗ {_of(missing.total(), total)} did not open"
        yield DecidedRow("WebSockets", "bad", badge, _sentence(unopened_words(missing)))
    elif total:
        yield DecidedRow("WebSockets", "good", f"✓ all {wording.number(total)} opened", "")


def _of(count: float, total: float) -> str:
    return f"{wording.number(count)} of {wording.number(total)}"


def _ended_row(outcome: Mapping[str, Any]) -> Iterator[DecidedRow]:
    if outcome.get("ended_by_script"):
        yield DecidedRow("end of the run", "bad", "✗ by the script", _sentence(str(outcome["ended_by_script"])))


def _generator_row(finding: Mapping[str, Any]) -> Iterator[DecidedRow]:
    """Whether the generator limited or delayed the load."""
    healthy = section(finding, "generator").get("healthy")
    if not isinstance(healthy, bool):
        return
    key, badge = (
        ("good", "✓ healthy")
        if healthy
        else ("bad", "✗ it delayed the load" if finding.get("valid", True) else "✗ it was a limit")
    )
    said = _SENTENCE_END.split(str(finding.get("answer") or ""))
    unanswered = {text for text in finding.get("invalid_because") or () if healthy}
    words = _ANSWERED.sub("", said[0])  # the badge answers its question, this row has another
    yield DecidedRow(GENERATOR, key, badge, "" if said[0] in unanswered else f"{words[:1].upper()}{words[1:]}")
