"""A finding in the words of the page and of the terminal; tolerant of keys that a finding lacks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from plimsoll.findings.capacity.seen_overload import overload_of
from plimsoll.findings.capacity.sustainable import bounds_of_verdicts
from plimsoll.findings.exit_codes import without_data
from plimsoll.findings.imported import shown
from plimsoll.findings.validity.validity import invalid_because, invalid_for
from plimsoll.report import wording
from plimsoll.report.levels import LoadLine, load_line_of
from plimsoll.report.trials.rows import trial_rows
from plimsoll.report.wording import is_number, section
from plimsoll.words import amount_words

HANDLED = {
    *(
        "schema",
        "question",
        "answer",
        "experiment",
        "status",
        "valid",
        "capacity",
        "objectives",
        "limited_by",
        "headroom",
        "sustainable",
    ),
    *(
        "level_unit",
        "resource",
        "generator",
        "next",
        "run",
        "steps",
        "reasons",
        "invalid_because",
        "validity",
        "notes",
        "data_volume",
    ),
    *("verdict", "a", "b", "margin", "pairs_planned", "parts"),
    *("facts", "evidence", "trouble", "failed_share", "tables", "database", "cannot", "totals"),
}


FEW_MET = 3
MOSTLY_OVER = 0.9  # of the requests
_GRAVITY = {"failed": 0, "undecided": 1, "unknown": 2}
ALL, LIMITED_BY, GENERATOR = "all requests", "Limited by", "load generator"


@dataclass(frozen=True)
class DecidedRow:
    """What was asked, how it was judged (`key` and `badge`), and by what."""

    subject: str
    key: str
    badge: str
    words: str


@dataclass(frozen=True)
class ObjectiveLine:
    """One objective, how far it was met in words, and its verdict where it matters: at the expected load."""

    operation: str
    objective: str
    met_up_to: str
    verdict: str = "unknown"
    verdicts: list[dict[str, Any]] = field(default_factory=list)

    @property
    def row(self) -> DecidedRow:
        words = wording.verdict(self.verdict)
        subject = self.objective if self.operation == ALL else f"{self.operation}: {self.objective}"
        return DecidedRow(subject, self.verdict, words, self.met_up_to.removeprefix(f"{words}: "))


@dataclass(frozen=True)
class FindingTable:
    """A table of a finding: rows of cells, as many as columns; columns of `codes` hold SQL or the like."""

    title: str
    note: str
    columns: list[str]
    rows: list[list[str]]
    words: frozenset[int] = frozenset()
    codes: frozenset[int] = frozenset()


@dataclass(frozen=True)
class FindingView:
    """What a reader sees of a finding, top to bottom. `folds_sentences`: `decided` tells the gist of these;
    `blames_generator`: the load generator, or its host, is why it or a part of it is invalid."""

    question: str
    answer: str
    valid: bool
    unanswered: bool
    experiment: str
    facts: list[tuple[str, str]]
    rests_on: list[str]
    objectives: list[ObjectiveLine]
    cautions: list[str]
    caveats: list[str]
    next_steps: list[str]
    load_line: LoadLine | None
    sentences: list[str] = field(default_factory=list)
    folds_sentences: bool = False
    tables: list[FindingTable] = field(default_factory=list)
    invalid_for: str = ""
    reasons: list[str] = field(default_factory=list)
    decided: list[DecidedRow] = field(default_factory=list)
    outcome: list[DecidedRow] = field(default_factory=list)
    limited_by: str = ""
    limit_evidence: list[str] = field(default_factory=list)
    blames_generator: bool = False

    @property
    def is_partly_valid(self) -> bool:
        """Whether the question has a valid answer, and a part of what is said is not."""
        return self.valid and bool(self.invalid_for) and not self.unanswered

    @property
    def evidence(self) -> list[str]:
        """Of the limit, then of the answer."""
        return [*self.limit_evidence, *self.rests_on]

    @property
    def limit_words(self) -> str:
        """Why that stops it, without the "cannot tell" that `limited_by` says."""
        return _why(self.limit_evidence)


def view(finding: Mapping[str, Any], unit: str = "users") -> FindingView:
    """The finding in words; levels carry the unit that the finding names, else `unit`."""
    named = section(finding, "capacity").get("unit") or finding.get("level_unit")
    unit = wording.unit_words(named, unit)
    unanswered = _is_unanswered(finding)
    limited = {} if unanswered else section(finding, "limited_by")
    limited_by, limit_evidence = _limited_by(limited, finding), _texts(limited.get("evidence"))
    objectives = [
        _objective_line(entry, unit, disturbed=_is_slowed(finding))
        for entry in finding.get("objectives") or ()
        if isinstance(entry, Mapping)
    ]
    of_trials = trial_rows(finding)
    return FindingView(
        question=str(finding.get("question") or "What was found?"),
        answer=str(finding.get("answer") or "No answer was recorded."),
        valid=finding.get("valid", True) is not False,
        invalid_for=invalid_for(finding.get("validity")),
        unanswered=unanswered,
        blames_generator=_blames_generator(finding),
        experiment=str(finding.get("experiment") or ""),
        facts=[*_told_facts(finding), *_capacity_facts(finding, unit), *_limit_facts(limited), *_other_facts(finding)],
        limited_by=limited_by,
        limit_evidence=limit_evidence,
        rests_on=_evidence_words(finding.get("evidence")),
        objectives=objectives,
        cautions=_texts(finding.get("cautions")),
        caveats=_caveats(finding),
        reasons=_reasons(finding),
        decided=[
            *(DecidedRow(*row) for row in shown.rows_of(finding)),
            *_expected_row(finding),
            *(DecidedRow(*row) for row in of_trials),
            *_consumer_row(finding),
            *_limit_row(limited_by, _why(limit_evidence)),
            *_generator_row(finding),
            *_objective_rows(objectives),
        ],
        next_steps=_texts(finding.get("next")),
        load_line=load_line_of(finding),
        sentences=_texts(finding.get("sentences")),
        folds_sentences=bool(of_trials),
        tables=[_table(entry) for entry in finding.get("tables") or () if isinstance(entry, Mapping)],
    )


def _evidence_words(evidence: Any) -> list[str]:
    """What it rests on, a sentence each; runs of earlier versions have one text."""
    if not isinstance(evidence, list | tuple):
        return _texts(evidence)
    return [str(one.get("words") or "") for one in evidence if isinstance(one, Mapping) and one.get("words")]


def _table(entry: Mapping[str, Any]) -> FindingTable:
    columns = [str(name) for name in entry.get("columns") or ()]
    rows = [[str(cell) for cell in row] for row in entry.get("rows") or () if len(row) == len(columns)]
    words, codes = (
        frozenset(columns.index(n) for n in entry.get(key) or () if n in columns) for key in ("words", "codes")
    )
    return FindingTable(str(entry.get("title") or ""), str(entry.get("note") or ""), columns, rows, words, codes)


def _is_unanswered(finding: Mapping[str, Any]) -> bool:
    """Whether the experiment ended without a result, so that its answer is the reason."""
    capacity = section(finding, "capacity")
    bounds = (capacity.get("good"), capacity.get("bad"))
    return finding.get("status") == "failed" or (bool(capacity) and not any(map(is_number, bounds)))


def _reasons(finding: Mapping[str, Any]) -> list[str]:
    """Why it, or a part of what it says, is invalid, each once."""
    if finding.get("valid", True) is not False:
        return invalid_because(finding.get("validity"))
    return list(dict.fromkeys(text for key in ("invalid_because", "reasons") for text in _texts(finding.get(key))))


def _expected_row(finding: Mapping[str, Any]) -> Iterable[DecidedRow]:
    """Whether the expected load is carried, by what sets the exit code."""
    headroom = section(finding, "headroom")
    if "carries" in headroom and is_number(headroom.get("expected_users")):
        key = {True: "good", False: "bad"}.get(headroom["carries"], "unknown")
        badge = wording.verdict(key) if key != "unknown" else "not decided"
        room = wording.headroom(headroom["ratio"]) if is_number(headroom.get("ratio")) else ""
        yield DecidedRow(
            f"expected load, {wording.level(headroom['expected_users'], 'users')}",
            key,
            badge,
            room and f"It carries {room}.",
        )


def _consumer_row(finding: Mapping[str, Any]) -> Iterable[DecidedRow]:
    """Whether the consumer keeps up; one that falls behind is among the objectives that failed."""
    if "keeps_up" in finding and finding["keeps_up"] is not False:
        key, badge = ("good", "✓ keeps up") if finding["keeps_up"] else ("unknown", "cannot tell")
        smallest = section(finding, "consumer").get("smallest_detectable")
        can_show = is_number(smallest) and smallest <= 1
        words = f"Growth by {wording.percent(smallest)} of the arrivals or more would have shown." if can_show else ""
        yield DecidedRow("consumer", key, badge, words)


def _objective_rows(objectives: Sequence[ObjectiveLine]) -> Iterable[DecidedRow]:
    """The gravest first; of those that are met few have a row of their own."""
    ordered = gravest_first(objectives)
    met = [one for one in ordered if one.verdict == "met"]
    folded = met[FEW_MET:] if len(met) > FEW_MET + 1 else []
    yield from (one.row for one in ordered if one not in folded)
    if folded:
        subjects = "; ".join(one.row.subject for one in folded)
        yield DecidedRow(f"{len(folded)} other objectives", "met", wording.verdict("met"), subjects)


def gravest_first(objectives: Iterable[ObjectiveLine]) -> list[ObjectiveLine]:
    """Failed, undecided and unknown before those that are met."""
    return sorted(objectives, key=lambda one: _GRAVITY.get(one.verdict, len(_GRAVITY)))


def _limit_row(limited_by: str, why: str) -> Iterable[DecidedRow]:
    if limited_by:
        yield DecidedRow("what stops it", "unknown", limited_by, f"{why[:1].upper()}{why[1:]}")


def _why(limit_evidence: Iterable[str]) -> str:
    return " ".join(limit_evidence).removeprefix("Cannot tell: ")


def _blames_generator(finding: Mapping[str, Any]) -> bool:
    """Whether the load generator, or its host, spoilt it: a target of which no answer came did that itself."""
    generator = section(finding, "generator")
    spoilt = generator.get("healthy") is False or bool(_texts(generator.get("reasons")))
    limits = section(finding, "limited_by").get("kind") == "generator" and finding.get("valid", True) is False
    return spoilt or limits or bool(invalid_because(finding.get("validity")))


def _generator_row(finding: Mapping[str, Any]) -> Iterable[DecidedRow]:
    """Whether the generator, or its host, spoilt it."""
    generator = section(finding, "generator")
    if isinstance(generator.get("healthy"), bool):
        bad = "✗ it was a limit" if generator.get("limits") else "✗ its host was disturbed"
        if trials := generator.get("excluded_trials"):
            bad = f"✗ {trials} trial{'s' if trials > 1 else ''} left out"
        blamed = _blames_generator(finding)
        reasons = " ".join(_reasons(finding) or _texts(generator.get("reasons"))) if blamed else ""
        key, badge = ("bad", bad) if blamed else ("good", "✓ healthy")
        yield DecidedRow(GENERATOR, key, badge, reasons or str(generator.get("words") or ""))


def _caveats(finding: Mapping[str, Any]) -> list[str]:
    """Why it is invalid, then what to know before trusting it; each once, and not again what the answer or the
    generator's own words say."""
    keys = ("invalid_because", "reasons", "anomalies", "notes")
    said = dict.fromkeys(text for key in keys for text in _texts(finding.get(key)))
    known = (section(finding, "generator").get("words"), finding.get("answer"))
    return [text for text in said if not any(text in str(words) for words in known if words)]


def _capacity_facts(finding: Mapping[str, Any], unit: str) -> Iterable[tuple[str, str]]:
    capacity, headroom = section(finding, "capacity"), section(finding, "headroom")
    up_to, beyond = (words.capitalize() for words in shown.bracket_words(finding))
    if is_number(capacity.get("good")) and up_to:
        yield up_to, wording.level(capacity["good"], unit)
        if unit != "users" and is_number(capacity.get("users")):
            yield "In users", wording.level(capacity["users"], "users")
    if is_number(capacity.get("bad")) and beyond:
        yield beyond, wording.level(capacity["bad"], unit)
    elif is_number(capacity.get("good")) and beyond:
        overload = overload_of(finding) if finding.get("steps") else None
        seen = f"about {wording.level(overload['level'], unit)}, seen in a short step" if overload else "not reached"
        yield beyond, seen
    if is_number(capacity.get("rate_per_s")):
        yield "At that level", f"{amount_words(capacity['rate_per_s'], 'operation')}/s"
    if is_number(capacity.get("requests_per_s")) and up_to:
        what = "Good answers there" if finding.get("experiment") == "analyze" else "Requests"
        yield what, f"{wording.number(capacity['requests_per_s'])} /s"
    sustainable = section(finding, "sustainable")
    if is_number(sustainable.get("level")):
        least = "at least " if sustainable.get("undecided") else ""
        yield "Sustainable load", f"{least}{wording.level(sustainable['level'], unit)}"
    interval = capacity.get("interval")
    if isinstance(interval, list | tuple) and len(interval) == 2 and all(map(is_number, interval)):
        confidence = wording.percent(capacity.get("confidence"))
        yield f"Interval ({confidence})", f"{wording.number(interval[0])} to {wording.level(interval[1], unit)}"
    if is_number(capacity.get("knee")):
        yield "Knee", _knee_words(capacity, unit)
    volume = section(finding, "data_volume")
    if is_number(volume.get("start")) and is_number(volume.get("end")):
        yield "Data volume", f"{wording.number(volume['start'], 6)} to {wording.number(volume['end'], 6)}"
    if is_number(headroom.get("expected_users")):
        yield "Expected load", wording.level(headroom["expected_users"], "users")
    if is_number(headroom.get("ratio")):
        yield "Headroom", wording.headroom(headroom["ratio"])
    elif "carries" in headroom and headroom["carries"] is None:
        yield "Headroom", "not decided"


def _told_facts(finding: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Pairs of label and value that the finding has in words already."""
    for pair in finding.get("facts") or ():
        if isinstance(pair, list | tuple) and len(pair) == 2:
            yield str(pair[0]), str(pair[1])


def _knee_words(capacity: Mapping[str, Any], unit: str) -> str:
    words, interval = f"about {wording.level(capacity['knee'], unit)}", capacity.get("knee_interval")
    if isinstance(interval, list | tuple) and len(interval) == 2 and all(map(is_number, interval)):
        words += f" ({wording.number(interval[0])} to {wording.number(interval[1])})"
    return words


# Of the others it is 1, or a share of something else, which the evidence tells.
_WITH_UTILISATION = ("cpu", "cpu_quota", "disk", "memory", "memory_limit", "tasks_limit", "open_files_limit", "pool")


def _limited_by(limited: Mapping[str, Any], finding: Mapping[str, Any]) -> str:
    """What stops it, in words; empty where the finding asks no such thing. What was seen in numbers that are not the
    target's alone may not stop the target alone."""
    words = next((value for _, value in _limit_facts(limited)), "")
    is_told = limited.get("kind") not in (None, "none", "unknown", "generator")
    return f"in these numbers, {words}" if is_told and finding.get("valid", True) is False else words


def _limit_facts(limited: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    if not limited:
        return
    kind = str(limited.get("kind") or "")
    if kind == "none":
        nearly, short = limited.get("nearly_full"), limited.get("in_short_step")
        if isinstance(nearly, Mapping) and is_number(nearly.get("utilisation")):
            yield LIMITED_BY, f"not reached; nearly full: {nearly.get('where')}"
            yield "Its utilisation", wording.percent(nearly["utilisation"])
        elif isinstance(short, Mapping) and short.get("where"):
            yield LIMITED_BY, f"not proven; in a short step: {_named(short)}"
        elif isinstance(short, Mapping):
            yield LIMITED_BY, "cannot tell"
        else:
            yield LIMITED_BY, "nothing: no limit was reached"
        return
    yield LIMITED_BY, _named(limited)
    if is_number(limited.get("utilisation")) and kind in _WITH_UTILISATION:
        yield "Its utilisation", wording.percent(limited["utilisation"])


def _named(limited: Mapping[str, Any]) -> str:
    kind, where = str(limited.get("kind") or ""), str(limited.get("where") or "")
    if kind in ("", "unknown"):
        return "cannot tell"
    words = kind.upper() if len(kind) <= 3 else kind.replace("_", " ")
    return f"{words}, {where}" if where else words


def _other_facts(finding: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Plain values that this version does not know by name, so that nothing recorded is hidden."""
    for key, value in finding.items():
        if key not in HANDLED and isinstance(value, str | int | float) and not isinstance(value, bool):
            words = wording.number(value) if is_number(value) else str(value)
            yield str(key).replace("_", " ").capitalize(), words


def _is_slowed(finding: Mapping[str, Any]) -> bool:
    """Whether something else than the target made its response times longer."""
    told = finding.get("validity") or ()
    times = [one for one in told if isinstance(one, Mapping) and one.get("rests_on") == "response_time"]
    return any(one.get("verdict") == "invalid" for one in times)


def _objective_line(entry: Mapping[str, Any], unit: str, *, disturbed: bool = False) -> ObjectiveLine:
    """`disturbed`: response times are too long, which an objective of them that is met bears."""
    subject = entry.get("operation") or entry.get("request") or ALL
    met, at = entry.get("met_up_to_users", entry.get("met_up_to")), entry.get("at_level")
    told = entry.get("words")
    verdicts = [dict(item) for item in entry.get("verdicts") or () if isinstance(item, Mapping)]
    known = ((met, "met up to"), (entry.get("failed_from"), "failed from"))
    words = ", ".join(f"{text} {wording.level(level, unit)}" for level, text in known if is_number(level))
    words = words or _unmet_words(verdicts)
    verdict = str(entry.get("verdict") or "unknown")
    if verdict != "unknown" and without_data(entry):  # the exit code counts it as failed
        verdict, told = "failed", _lowered(str(told or "no request was seen"))
    if told:
        words = f"{wording.verdict(verdict)}: {told}"
    elif is_number(at) and verdict != "unknown":
        words = f"{wording.verdict(verdict)} at {wording.level(at, unit)}; {words}"
    if disturbed and entry.get("unit") == "ms":
        told_of = {"met": "; undisturbed, times are no longer than that"}
        if not _misses_mostly(entry, verdicts):
            told_of["failed"] = "; undisturbed, it may be met"
        words += told_of.get(verdict, "")
    return ObjectiveLine(str(subject), wording.objective(entry.get("objective", "")), words, verdict, verdicts)


def _misses_mostly(entry: Mapping[str, Any], verdicts: Sequence[Mapping[str, Any]]) -> bool:
    """Whether nothing was seen of it, or most requests took too long at the level that decides: no disturbance of a
    part of the time does that."""
    at = entry.get("at_level")
    held = [one for one in verdicts if at is None or one.get("level") == at]
    over = [float(one.get("over") or 0) / one["samples"] for one in held if one.get("samples")]
    return without_data(entry) or (bool(over) and min(over) > MOSTLY_OVER)


def _lowered(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}"


def _unmet_words(verdicts: Sequence[Mapping[str, Any]]) -> str:
    kinds = {item.get("verdict") for item in verdicts}
    levels = {item.get("level") for item in verdicts}
    if levels == {None} and len(kinds) == 1 and kinds <= {"met", "failed"}:  # a summary of no level
        return f"{wording.verdict(kinds.pop())} over the whole test"
    if "failed" in kinds:
        return "not met at any level tried"
    return "undecided: too few samples at every level" if kinds else "not judged"


def objective_verdict(objective: ObjectiveLine, level: float | None) -> str:
    """The verdict at `level`, or "unknown" where that level was not judged. Undecided there, it is met where a higher
    level meets it below all that fail, as more load is never faster."""
    found = [str(item.get("verdict")) for item in objective.verdicts if item.get("level") == level]
    if not found or found[-1] != "undecided" or not is_number(level):
        return found[-1] if found else "unknown"
    met_up_to, _ = bounds_of_verdicts([one for one in objective.verdicts if is_number(one.get("level"))])
    return "met" if met_up_to is not None and met_up_to > level else "undecided"


def _texts(value: Any) -> list[str]:
    """A text, a list of texts or nothing, as a list of texts."""
    if value is None or isinstance(value, bool):
        return []
    texts = value if isinstance(value, list | tuple) else [value]
    return [str(text) for text in texts if text not in (None, "")]
