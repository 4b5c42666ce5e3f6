"""A draft from a test plan of JMeter: a group of users for each thread group."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from plimsoll.drafts.draft import Draft, DraftGroup
from plimsoll.drafts.jmeter.jmeter_script import DataSet, ThreadGroup, relative_file, script_of_plan
from plimsoll.drafts.jmeter.plan_tree import Node, tree_of
from plimsoll.drafts.jmeter.plan_xml import read_xml
from plimsoll.drafts.jmeter.private import Private
from plimsoll.drafts.jmeter.samplers import SAMPLERS, Sampler, main_origin
from plimsoll.drafts.jmeter.texts import Texts
from plimsoll.drafts.jmeter.walk import THREAD_GROUPS, Scope, Walk, is_defaults
from plimsoll.drafts.left_out import LeftOut
from plimsoll.errors import InputError
from plimsoll.plain_text import plain
from plimsoll.words import count_words, counted_words, time_words

_EXECS = {"SetupThreadGroup": "setup", "PostThreadGroup": "teardown"}
_MOST_THREADS = 100_000
_MEANT = {
    "ThreadGroup.num_threads": "number of threads",
    "TargetLevel": "number of threads",
    "ThreadGroup.ramp_time": "ramp-up time",
    "RampUp": "ramp-up time",
    "ThreadGroup.duration": "duration",
    "ThreadGroup.delay": "startup delay",
    "Hold": "hold time",
}


def draft_of_plan(path: Path, url: str | None, folder: Path) -> Draft:
    """The draft of a .jmx file, whose script lies in `folder`. InputError for what is no test plan, and where no
    request of it can be made."""
    root = tree_of(read_xml(path))
    return _Importing(root, path, url, folder).draft()


@dataclass
class _Importing:
    root: Node
    path: Path
    url: str | None
    folder: Path
    texts: Texts = field(default_factory=Texts)
    missing: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)  # files of rows that are not beside the plan
    settled: dict[str, str] = field(default_factory=dict)
    replaced: list[str] = field(default_factory=list)  # values that cannot be taken as they are written

    def draft(self) -> Draft:
        plan = next((one for one in self.root.children if one.kind == "TestPlan"), self.root)
        private = Private()
        variables = [(name, private.value(name, value, "the plan's variables")) for name, value in _variables(plan)]
        self.texts.variables = dict(variables)
        found = [one for one in plan.all() if one.is_enabled and one.kind.endswith("ThreadGroup")]
        origin = main_origin(self._samplers(plan, ()), self.texts)
        data_sets = self._data_sets(plan)
        walk = Walk(self.texts, origin, self.root, {at: one.constant for at, one in data_sets.items()}, private)
        groups = list(self._groups(found, plan, walk))
        if not any(one.is_scenario and one.samplers for one in groups):
            reasons = Counter(one.reason for one in walk.left_out.values()).most_common(3)
            why = "; ".join(f"{reason} ({count})" for reason, count in reasons) or "no thread group has HTTP requests"
            raise InputError(
                f"no request of the test plan can be made: {plain(why)}",
                "Give a plan with HTTP requests in an enabled thread group.",
                file=plain(self.path),
            )
        values = [(name, self.texts.script(value)) for name, value in variables]
        cookies = [one for one in plan.all() if one.is_enabled and one.kind == "CookieManager"]
        used = set(re.findall(r"nextRow\(vars, (\w+)", "\n".join(line for one in groups for line in one.lines)))
        script = script_of_plan(
            source=f"the test plan {plain(self.path.name)}",
            url=self.url,
            groups=groups,
            variables=values,
            data_sets=[one for one in data_sets.values() if one.constant in used],
            properties=self.texts.properties,
            keeps_cookies=bool(cookies),
        )
        return Draft(
            source=f"the test plan {plain(self.path.name)}",
            url=self.url,
            head=tuple(self._head(groups, origin)),
            operations=(),
            groups=tuple(
                DraftGroup(one.name, one.exec, one.threads, one.samplers) for one in groups if one.is_scenario
            ),
            left_out=tuple(self._left_out(plan, walk)),
            notes=tuple(self._notes(groups, walk, origin)),
            script=script,
            secrets=tuple(private.variables.items()),
            expected_users=float(sum(one.threads for one in groups if one.is_scenario)),
        )

    def _samplers(self, node: Node, defaults: tuple[Node, ...]) -> Iterator[Sampler]:
        """All that are enabled, with the defaults of their scope."""
        defaults = (*(one for one in node.children if one.is_enabled and is_defaults(one)), *defaults)
        for one in node.children:
            if one.is_enabled:
                if one.kind in SAMPLERS:
                    yield Sampler(one, (*(n for n in one.children if n.is_enabled and is_defaults(n)), *defaults))
                else:
                    yield from self._samplers(one, defaults)

    def _data_sets(self, plan: Node) -> dict[int, DataSet]:
        found: dict[int, DataSet] = {}
        for one in plan.all():
            if not one.is_enabled or one.kind != "CSVDataSet":
                continue
            name = self.texts.always(one.text("filename"))
            if not name:
                self.missing.append(f"{one.text('filename')} (its name is only known when it runs)")
                continue
            file = Path(name.replace("\\", "/"))
            file = file if file.is_absolute() else self.path.parent / file
            if not file.is_file():
                self.missing.append(name)
            elif not file.resolve().is_relative_to(self.path.parent.resolve()):
                self.elsewhere.append(str(file.resolve()))
            names = [part.strip() for part in one.text("variableNames").split(",") if part.strip()]
            delimiter = self.texts.always(one.text("delimiter")) or ","
            found[id(one)] = DataSet(
                constant=f"rows{len(found) + 1}",
                file=relative_file(file, self.folder),
                delimiter="\t" if delimiter == "\\t" else delimiter,
                names=tuple(names),
                has_header=one.flag("ignoreFirstLine") or not names,
                is_quoted=one.flag("quotedData"),
            )
        return found

    def _groups(self, found: Iterable[Node], plan: Node, walk: Walk) -> Iterator[ThreadGroup]:
        taken: set[str] = set()
        outer = Scope().within(plan.children)
        for node in found:
            if node.kind not in THREAD_GROUPS:
                walk.leave(node, "a thread group of a plugin")
                continue
            fixed = _EXECS.get(node.kind)
            if fixed in taken:
                walk.leave(node, f"a script has one {fixed}")
                continue
            name = _different(_name_of(node.name), taken)
            taken |= {fixed or name}
            has_level = node.xml.named("ThreadGroup.num_threads") is None
            threads = self._whole(node, "TargetLevel" if has_level else "ThreadGroup.num_threads")
            walk.threads, before = threads, walk.samplers
            lines = walk.body(node, outer, 0)
            loops, duration_s = self._length(node)
            yield ThreadGroup(
                name=name,
                exec=fixed or f"{name}Users",
                threads=threads,
                ramp_s=self._number(node, "ThreadGroup.ramp_time") or self._number(node, "RampUp"),
                loops=loops,
                duration_s=duration_s,
                delay_s=self._number(node, "ThreadGroup.delay") if node.flag("ThreadGroup.scheduler") else 0.0,
                goes_on=node.text("ThreadGroup.on_sample_error") not in ("startnextloop", "stopthread"),
                lines=tuple(lines),
                samplers=walk.samplers - before,
            )

    def _length(self, node: Node) -> tuple[int | None, float | None]:
        """(loops, seconds) of a thread group; None where it has none."""
        if node.kind == "ConcurrencyThreadGroup":
            unit = 1.0 if node.text("Unit") == "S" else 60.0
            return None, unit * self._number(node, "Hold") or None
        duration_s = self._number(node, "ThreadGroup.duration") if node.flag("ThreadGroup.scheduler") else 0.0
        loop = node.inner("ThreadGroup.main_controller")
        text = self.texts.always(loop.text("LoopController.loops"))
        endless = loop.flag("LoopController.continue_forever") or text is None or text.strip() in ("-1", "")
        if endless:
            return None, duration_s or None
        loops = int(str(text)) if re.fullmatch(r"\s*[1-9]\d{0,8}\s*", str(text)) else 1
        if str(loops) != str(text).strip():
            self._replace(node, "number of loops", str(text), f"{loops} is")
        return loops, duration_s or None

    def _number(self, node: Node, name: str) -> float:
        """A property in seconds; 0 where it is none, or only known when the plan runs, which is noted."""
        found = self._known(node, name)
        if found is None and node.text(name).strip():
            self._replace(node, _MEANT.get(name, name), node.text(name), "0 s is")
        return found or 0.0

    def _known(self, node: Node, name: str) -> float | None:
        """A property as a number; None where it is none, or only known when the plan runs."""
        given = node.text(name)
        text = self.texts.always(given) or ""
        if "${" in given:
            self.settled[given] = text or "unknown"
        return float(text) if re.fullmatch(r"\s*\d{1,9}(\.\d+)?\s*", text) else None

    def _whole(self, node: Node, name: str) -> int:
        found = self._known(node, name)
        given = self.texts.always(node.text(name)) or node.text(name)
        if found is None:
            is_great = re.fullmatch(r"\s*\+?\d+(\.\d*)?([eE]\+?\d+)?\s*", given)
            found = float(_MOST_THREADS) if is_great else 1.0
        taken = min(_MOST_THREADS, max(1, int(found)))
        if given.strip() != str(taken):
            self._replace(node, _MEANT[name], given, f"{count_words(taken)} is")
        return taken

    def _replace(self, node: Node, what: str, given: str, taken: str) -> None:
        """Note a value that cannot be taken as it is written, and what is taken instead."""
        told = f"{plain(given.strip())[:40]!r}" if given.strip() else "not stated"
        place = f"{plain(self.path.name)}, thread group {plain(node.name)!r}"
        self.replaced.append(f"{place}: its {what} is {told}, {taken} taken instead.")

    def _head(self, groups: list[ThreadGroup], origin: str) -> Iterator[str]:
        scenarios = [one for one in groups if one.is_scenario]
        requests = counted_words(sum(one.samplers for one in scenarios), "request")
        users = counted_words(sum(one.threads for one in scenarios), "user")
        many = counted_words(len(scenarios), "thread group")
        yield f"{plain(self.path.name)}: {requests} in {many}, {users} who wait for their answers."
        if origin:
            yield f"The plan asks {plain(origin)}."

    def _left_out(self, plan: Node, walk: Walk) -> Iterator[LeftOut]:
        yield from walk.left_out.values()
        for name, count in self.texts.unknown.items():
            where = "its text stands in the requests as it is written"
            yield LeftOut("not_imported", f"${{{name}}}", count, f"a function that is not imported; {where}")
        disabled = sum(1 for one in plan.all() if not one.is_enabled)
        if disabled:
            yield LeftOut(
                "not_imported", counted_words(disabled, "element"), disabled, "disabled in the plan, with what is below"
            )

    def _notes(self, groups: list[ThreadGroup], walk: Walk, origin: str) -> Iterator[str]:
        for file in dict.fromkeys(self.missing):
            yield f"The file {plain(file)} is not there, which the script reads: put it there, or change the script."
        for file in dict.fromkeys(self.elsewhere):
            yield (
                f"The script reads {plain(file)}, which is not beside the plan, and sends what is in it to the target: "
                "look whether it may."
            )
        yield from dict.fromkeys(self.replaced)
        for note, count in walk.notes.items():
            yield f"{note[0].upper()}{note[1:]} ({count})."
        if any(one.ramp_s >= 2 and one.loops is not None for one in groups):
            longest = max(one.ramp_s for one in groups if one.loops is not None)
            yield f"Users of thread groups with a number of loops begin at once, and not within {time_words(longest)}."
        if walk.private.variables:
            named = ", ".join(f"{name} is {plain(what)}" for name, what in walk.private.variables.items())
            yield f"Passwords and tokens are not written. Give them with -e when it runs: {named}."
        given = [one for one in self.texts.properties if one not in walk.private.variables]
        if given:
            names = ", ".join(plain(re.sub(r"[^A-Za-z0-9_]", "_", one)) for one in given[:8])
            yield f"Properties of the plan are variables of the script, as -e NAME=…: {names}."
        if self.settled:
            known = ", ".join(f"{plain(name)} is {plain(value)}" for name, value in list(self.settled.items())[:6])
            yield f"Users and times are those that the plan has by default, in the script's options: {known}."
        if self.url is None and origin:
            yield f"Nothing is sent to {plain(origin)} before you put it into the study."


def _variables(plan: Node) -> Iterator[tuple[str, str]]:
    """(name, text) of the plan's own variables, wherever they stand."""
    places = [plan.rows("TestPlan.user_defined_variables", "Arguments.arguments")]
    places += [one.rows("Arguments.arguments") for one in plan.all() if one.kind == "Arguments" and one.is_enabled]
    for rows in places:
        for row in rows:
            if name := row.get("Argument.name", ""):
                yield name, row.get("Argument.value", "")


def _name_of(text: str) -> str:
    """A name of JavaScript: "Check-in / out" is checkInOut."""
    words = re.findall(r"[A-Za-z0-9]+", text) or ["users"]
    first, *rest = (one.lower() if one.isupper() else one for one in words)
    name = (first[0].lower() + first[1:] + "".join(one[0].upper() + one[1:] for one in rest))[:40]
    return f"group{name}" if name[0].isdigit() else name


def _different(name: str, taken: set[str]) -> str:
    count, unique = 1, name
    while unique in taken:
        count += 1
        unique = f"{name}{count}"
    return unique
