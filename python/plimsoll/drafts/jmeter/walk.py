"""Goes through a thread group: controllers as blocks, samplers as requests with the timers, headers, extractors and
assertions in whose scope they stand (usermanual/test_plan.html, execution order and scoping rules)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from plimsoll.drafts.jmeter.answers import ASSERTIONS, EXTRACTORS, checking, extracting, ignores_status
from plimsoll.drafts.jmeter.conditions import condition_of
from plimsoll.drafts.jmeter.plan_tree import Node
from plimsoll.drafts.jmeter.private import Private
from plimsoll.drafts.jmeter.samplers import DEFAULTS, SAMPLERS, Sampler, request_of
from plimsoll.drafts.jmeter.texts import Texts
from plimsoll.drafts.left_out import LeftOut
from plimsoll.drafts.script_text import string_of

TIMERS = ("ConstantTimer", "UniformRandomTimer", "GaussianRandomTimer", "PoissonRandomTimer", "ConstantThroughputTimer")
THREAD_GROUPS = ("ThreadGroup", "SetupThreadGroup", "PostThreadGroup", "ConcurrencyThreadGroup")
_SILENT = (
    "ResultCollector", "Summariser", "BackendListener", "DebugSampler", "DebugPostProcessor", "TestFragmentController",
    "Arguments", "CookieManager", "HeaderManager", "CSVDataSet", "CounterConfig", "RandomVariableConfig", DEFAULTS,
)  # fmt: skip
_REASONS = {
    "CacheManager": "each request is made, as without a browser's cache",
    "AuthManager": "give the header Authorization instead",
    "JSR223": "a program in another language; write it by hand where it matters",
    "BeanShell": "a program in another language; write it by hand where it matters",
    "XPath": "XPath is not imported; take the value with a JSONPath or a regular expression",
    "Html": "CSS selectors are not imported; take the value with a regular expression",
    "ResultAction": "an iteration goes on after a failure, unless its thread group says otherwise",
    "IncludeController": "another test plan; import that one for itself",
    "UserParameters": "values for each user; put them into a CSV file",
    "SyncTimer": "users do not wait for each other",
}
_MOST_DEPTH = 60
_PROPS = re.compile(
    r"""\s*(?:(props|vars)\.put\(\s*["']([^"'$]+)["']\s*,\s*(?:vars\.get\(\s*["']([^"'$]+)["']\s*\)|["']([^"']*)["'])\s*\)|"""
    r"""(\$\{__setProperty\(.*?\)\})|(log\.\w+\([^()\n]*\)|SampleResult\.setIgnore\(\)))\s*;?"""
)


@dataclass(frozen=True)
class Scope:
    """What holds for a sampler, from the outermost to the nearest."""

    defaults: tuple[Node, ...] = ()
    headers: tuple[Node, ...] = ()
    timers: tuple[Node, ...] = ()
    after: tuple[Node, ...] = ()
    checks: tuple[Node, ...] = ()

    def within(self, children: Sequence[Node]) -> Scope:
        """With the elements of one more level."""
        found = [one for one in children if one.is_enabled]
        return Scope(
            (*self.defaults, *(one for one in found if is_defaults(one))),
            (*self.headers, *(one for one in found if one.kind == "HeaderManager")),
            (*self.timers, *(one for one in found if one.kind.endswith("Timer"))),
            (*self.after, *(one for one in found if one.kind.endswith(("Extractor", "PostProcessor")))),
            (*self.checks, *(one for one in found if one.kind.endswith("Assertion"))),
        )


def is_defaults(node: Node) -> bool:
    """Whether it has the defaults of HTTP requests."""
    return node.kind == DEFAULTS and "HttpDefaults" in node.xml.attributes.get("guiclass", "HttpDefaults")


@dataclass
class Walk:
    """Writes the statements of thread groups; what cannot be written is in `left_out`, each element once."""

    texts: Texts
    origin: str
    root: Node
    data_sets: Mapping[int, str]
    private: Private = field(default_factory=Private)
    threads: int = 1
    left_out: dict[int, LeftOut] = field(default_factory=dict)
    notes: dict[str, int] = field(default_factory=dict)
    samplers: int = 0
    _states: int = 0
    _inside: int = 0

    def leave(self, node: Node, reason: str) -> None:
        """Leave an element out, with the reason."""
        if id(node) not in self.left_out:
            label = f"{node.kind} {node.name}".strip()
            self.left_out[id(node)] = LeftOut("not_imported", label, 0, reason)

    def note(self, text: str) -> None:
        self.notes[text] = self.notes.get(text, 0) + 1

    def body(self, parent: Node, scope: Scope, depth: int) -> list[str]:
        """The statements of what stands below an element, once."""
        within = scope.within(parent.children)
        lines = list(self._begin(parent.children))
        for one in parent.children:
            lines += self._element(one, within, depth)
        return lines

    def _begin(self, children: Sequence[Node]) -> Iterator[str]:
        """What JMeter does at the start of each pass of a controller: rows of files, counters, random numbers."""
        for one in children:
            if not one.is_enabled:
                continue
            if one.kind == "CSVDataSet" and id(one) in self.data_sets:
                how = "vu" if one.text("shareMode") == "shareMode.thread" or self._inside else "all"
                again = "" if one.flag("recycle", True) else ", false"
                yield f"nextRow(vars, {self.data_sets[id(one)]}, {string_of(how)}{again});"
            elif one.kind == "CounterConfig":
                start, step, end = (
                    self.texts.script(one.text(f"CounterConfig.{part}")) for part in ("start", "incr", "end")
                )
                name = self.texts.script(one.text("CounterConfig.name"))
                shown = self.texts.script(one.text("CounterConfig.format"))
                yield f"countUp(vars, {name}, {start}, {step}, {end}, {shown});"
            elif one.kind == "RandomVariableConfig":
                low, high = (self.texts.script(one.text(f"{part}imumValue")) for part in ("min", "max"))
                yield f"keep(vars, {self.texts.script(one.text('variableName'))}, random({low}, {high}));"

    def _element(self, one: Node, scope: Scope, depth: int) -> list[str]:
        if not one.is_enabled:
            return []
        if depth > _MOST_DEPTH:
            self.leave(one, "it is nested too deep, or leads back to itself")
            return []
        if one.kind in SAMPLERS:
            return self._sampler(one, scope)
        if one.kind in _SILENT or one.kind.endswith(("Timer", "Extractor", "PostProcessor", "Assertion")):
            return []
        known = self._CONTROLLERS.get(one.kind)
        if known is not None:
            return known(self, one, scope, depth + 1)
        if one.kind == "TestAction":
            return self._action(one, scope)
        if one.kind in ("JSR223Sampler", "BeanShellSampler") and not isinstance(done := self._program(one), str):
            return done
        if one.kind.endswith(("Controller", "Control", "ParallelSampler")):
            self.leave(one, "its requests are made one after the other, once in each pass")
            return self.body(one, scope, depth + 1)
        self.leave(one, self._why(one))
        return []

    def _sampler(self, node: Node, scope: Scope) -> list[str]:
        within = scope.within(node.children)
        sampler = Sampler(node, tuple(reversed(within.defaults)))
        why = sampler.why_not()
        origin = sampler.origin(self.texts)
        if why is None and origin and origin != self.origin:
            why = f"it asks another address, {origin}"
        if why is not None:
            self.leave(node, why)
            return []
        if origin is None:
            self.note("requests whose address is only known when it runs are sent to the target")
        for one in node.children:
            if (
                one.is_enabled
                and one.kind not in (*_SILENT, *TIMERS)
                and not one.kind.endswith(("Extractor", "Assertion", "PostProcessor", "Timer"))
            ):
                self.leave(one, self._why(one))
        self.samplers += 1
        fields = [*request_of(sampler, self._headers(within.headers), self.texts, self.private)]
        fields += ["ignoresStatus: true"] if ignores_status(iter(within.checks)) else []
        after = [*self._checks(within.checks), *self._after(within.after)]
        lines = [*self._waiting(within.timers), "request(vars, {", *(f"  {one}," for one in fields)]
        if not after:
            return [*lines, "});"]
        return [*lines, "}, (answer, checks) => {", *(f"  {one}" for one in after), "});"]

    def _headers(self, managers: Sequence[Node]) -> list[tuple[str, str]]:
        """Of one name the nearest counts."""
        found: dict[str, tuple[str, str]] = {}
        for manager in managers:
            for row in manager.rows("HeaderManager.headers"):
                if name := row.get("Header.name", ""):
                    found[name.lower()] = name, row.get("Header.value", "")
        return list(found.values())

    def _checks(self, nodes: Sequence[Node]) -> Iterator[str]:
        """Each under a name of its own, as plans seldom give their assertions any."""
        taken: dict[str, int] = {}
        for node in nodes:
            found = checking(node, self.texts) if node.kind in ASSERTIONS else self._why(node)
            if isinstance(found, str):
                self.leave(node, found)
                continue
            for name, test in found:
                taken[name] = taken.get(name, 0) + 1
                unique = name if taken[name] == 1 else f"{name} {taken[name]}"
                yield f"checks[{string_of(unique)}] = {test};"

    def _after(self, nodes: Sequence[Node]) -> Iterator[str]:
        for node in nodes:
            if node.kind in _SILENT:
                continue
            found = extracting(node, self.texts) if node.kind in EXTRACTORS else self._program(node)
            if isinstance(found, str):
                self.leave(node, found)
            else:
                yield from found

    @staticmethod
    def _why(node: Node) -> str:
        return next((why for part, why in _REASONS.items() if part in node.kind), "it has no counterpart in a script")

    def _program(self, node: Node) -> list[str] | str:
        """The statements of a program that only puts variables and properties, as plans often do."""
        text, lines, at = (node.text("script") or node.text("BeanShellSampler.query")).strip(), [], 0
        if not node.kind.startswith(("JSR223", "BeanShell")) or node.text("filename").strip():
            return self._why(node)
        while at < len(text):
            found = _PROPS.match(text, at)
            if found is None or found.end() == at:
                return self._why(node)
            at = found.end()
            if found[6] is not None:  # it only says something
                continue
            if found[5] is not None:
                made = self.texts.script(found[5])
                if "setProperty(" not in made:
                    return self._why(node)
                lines.append(f"{made};")
                continue
            value = f"vars[{string_of(found[3])}]" if found[3] is not None else self.texts.script(found[4])
            put = "setProperty({}, {});" if found[1] == "props" else "keep(vars, {}, {});"
            lines.append(put.format(string_of(found[2]), value))
        return lines

    def _waiting(self, timers: Sequence[Node]) -> Iterator[str]:
        """JMeter adds up all timers in scope."""
        waits = []
        for one in timers:
            delay, span = (
                f"number({self.texts.script(one.text(name) or '0')})"
                for name in ("ConstantTimer.delay", "RandomTimer.range")
            )
            if one.kind == "ConstantTimer":
                waits.append(delay)
            elif one.kind == "UniformRandomTimer":
                waits.append(f"{delay} + Math.random() * {span}")
            elif one.kind == "GaussianRandomTimer":
                waits.append(f"{delay} + gaussian() * {span}")
            elif one.kind == "PoissonRandomTimer":
                waits.append(f"{delay} + poisson({span})")
            elif one.kind == "ConstantThroughputTimer":
                mode = one.text("calcMode") or "0"
                many = "1" if mode == "0" else str(self.threads)
                self._states += 1
                yield f"pace(vars, {self._states}, number({self.texts.script(one.text('throughput'))}), {many});"
            else:
                self.leave(one, self._why(one))
        if waits:
            yield f"pause({' + '.join(waits)});"

    def _action(self, one: Node, scope: Scope) -> list[str]:
        if one.text("ActionProcessor.action") == "1":
            within = scope.within(one.children)
            return [
                *self._waiting(within.timers),
                f"pause(number({self.texts.script(one.text('ActionProcessor.duration') or '0')}));",
            ]
        self.leave(one, "it stops users or skips to the next pass")
        return []

    def _inline(self, one: Node, scope: Scope, depth: int) -> list[str]:
        return self.body(one, scope, depth)

    def _block(self, head: str, lines: Sequence[str]) -> list[str]:
        return [head, *(f"  {one}" for one in lines), "}"] if lines else []

    def _transaction(self, one: Node, scope: Scope, depth: int) -> list[str]:
        lines = self.body(one, scope, depth)
        name = re.sub(r"\$\{(.*?)\}", r"{\1}", one.name) or "transaction"
        return [f"group({string_of(name)}, () => {{", *(f"  {line}" for line in lines), "});"] if lines else []

    def _loop(self, one: Node, scope: Scope, depth: int) -> list[str]:
        times = one.text("LoopController.loops") or "1"
        if times.strip() == "-1":  # `continue_forever` of an inner loop means that it begins anew in each pass
            self.leave(one, "a loop without an end within a thread group: it is made once in each pass")
            return self.body(one, scope, depth)
        self._states += 1
        at = f"pass{self._states}"
        return self._block(
            f"for (let {at} = 0; {at} < number({self.texts.script(times)}); {at} += 1) {{",
            self._inner(one, scope, depth),
        )

    def _inner(self, one: Node, scope: Scope, depth: int) -> list[str]:
        self._inside += 1
        lines = self.body(one, scope, depth)
        self._inside -= 1
        return lines

    def _if(self, one: Node, scope: Scope, depth: int) -> list[str]:
        found = condition_of(
            one.text("IfController.condition"), self.texts, is_script=not one.flag("IfController.useExpression", False)
        )
        if found is None:
            self.leave(one, "its condition is not understood; its requests are left out with it")
            return []
        return self._block(f"if ({found}) {{", self.body(one, scope, depth))

    def _while(self, one: Node, scope: Scope, depth: int) -> list[str]:
        text = one.text("WhileController.condition").strip()
        found: str | None = (
            "!vars.lastFailed" if text.upper() in ("", "LAST") else condition_of(text, self.texts, is_script=False)
        )
        if found is None:
            self.leave(one, "its condition is not understood; its requests are left out with it")
            return []
        self._states += 1
        at = f"pass{self._states}"
        self.note("while loops end after 1,000 passes")
        return self._block(
            f"for (let {at} = 0; {at} < 1000 && ({found}); {at} += 1) {{", self._inner(one, scope, depth)
        )

    def _once(self, one: Node, scope: Scope, depth: int) -> list[str]:
        self._states += 1
        return self._block(f"if (once(vars, {self._states})) {{", self.body(one, scope, depth))

    def _throughput(self, one: Node, scope: Scope, depth: int) -> list[str]:
        self._states += 1
        lines = self.body(one, scope, depth)
        if one.text("ThroughputController.style") == "1":
            share = self.texts.script(one.text("ThroughputController.percentThroughput") or "100")
            return self._block(f"if (share(vars, {self._states}, number({share}))) {{", lines)
        most = self.texts.script(one.text("ThroughputController.maxThroughput") or "1")
        if not one.flag("ThroughputController.perThread"):
            self.note("executions that a throughput controller counts for all users are counted for each")
        return self._block(f"if (atMost(vars, {self._states}, number({most}))) {{", lines)

    def _foreach(self, one: Node, scope: Scope, depth: int) -> list[str]:
        self._states += 1
        at, mark = f"pass{self._states}", "_" if one.flag("ForeachController.useSeparator", True) else ""
        names = [self.texts.script(one.text(f"ForeachController.{name}")) for name in ("inputVal", "returnVal")]
        first = self.texts.script(one.text("ForeachController.startIndex") or "0")
        key = f"`${{{names[0]}}}{mark}${{{at}}}`"
        end = one.text("ForeachController.endIndex").strip()
        bound = f" && {at} <= number({self.texts.script(end)})" if end else ""
        head = f"for (let {at} = number({first}) + 1; vars[{key}] !== undefined{bound}; {at} += 1) {{"
        lines = self._inner(one, scope, depth)
        return self._block(head, [f"keep(vars, {names[1]}, vars[{key}]);", *lines]) if lines else []

    def _one_of(self, one: Node, scope: Scope, depth: int) -> list[str]:
        """Interleave, random and random order: each child is a function of its own."""
        within = scope.within(one.children)
        self._states += 1
        how = {"InterleaveControl": "inTurn", "RandomController": "anyOne", "RandomOrderController": "inAnyOrder"}[
            one.kind
        ]
        parts = [lines for child in one.children if (lines := self._element(child, within, depth))]
        if not parts:
            return []
        lines = [*self._begin(one.children), f"{how}(vars, {self._states}, ["]
        for part in parts:
            lines += ["  () => {", *(f"    {line}" for line in part), "  },"]
        return [*lines, "]);"]

    def _switch(self, one: Node, scope: Scope, depth: int) -> list[str]:
        within = scope.within(one.children)
        value = self.texts.script(one.text("SwitchController.value"))
        children = [
            child
            for child in one.children
            if child.is_enabled and (child.kind in SAMPLERS or child.kind in self._CONTROLLERS)
        ]
        lines = [*self._begin(one.children), f"choose({value}, ["]
        for child in children:
            lines += [
                f"  [{string_of(child.name)}, () => {{",
                *(f"    {line}" for line in self._element(child, within, depth)),
                "  }],",
            ]
        return [*lines, "]);"] if children else []

    def _module(self, one: Node, scope: Scope, depth: int) -> list[str]:
        """What stands elsewhere in the plan, found by the names that lead there."""
        path = tuple(row[""] for row in one.rows("ModuleController.node_path") if "" in row)
        found = next(
            (node for node in self.root.all() if path and node.path[-len(path) + 1 :] == path[1:] and len(path) > 1),
            None,
        )
        if found is None or not found.children:
            self.leave(one, "what it leads to is not in the plan")
            return []
        return (
            self._element(replace(found, is_enabled=True), scope, depth)
            if found.kind in self._CONTROLLERS
            else self.body(found, scope, depth)
        )

    _CONTROLLERS: ClassVar[dict[str, Callable[[Walk, Node, Scope, int], list[str]]]] = {
        "GenericController": _inline,
        "TransactionController": _transaction,
        "LoopController": _loop,
        "IfController": _if,
        "WhileController": _while,
        "OnceOnlyController": _once,
        "ThroughputController": _throughput,
        "ForeachController": _foreach,
        "InterleaveControl": _one_of,
        "RandomController": _one_of,
        "RandomOrderController": _one_of,
        "SwitchController": _switch,
        "ModuleController": _module,
    }
