"""JMeter's texts, `a ${x} b ${__Random(1,9)}`, as JavaScript, and as plain text where they are always the same.

Functions: usermanual/functions.html. A variable that nobody set stays as it is written, as in JMeter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from plimsoll.drafts.script_text import string_of, template_text

DEEPEST = 20


@dataclass(frozen=True)
class Variable:
    """${name}."""

    name: str


@dataclass(frozen=True)
class Call:
    """${__name(arguments)}; each argument is a text of its own."""

    name: str
    arguments: tuple[Text, ...]
    written: str


Text = tuple["str | Variable | Call", ...]


def parsed(text: str, depth: int = 0) -> Text:
    """The parts of a text."""
    parts: list[str | Variable | Call] = []
    plain: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text) and text[at + 1] in "$,\\":
            plain.append(text[at + 1])
            at += 2
        elif text.startswith("${", at) and (end := _end_of(text, at + 2)) is not None and depth < DEEPEST:
            parts += ["".join(plain)] if plain else []
            plain = []
            parts.append(_reference(text[at + 2 : end], text[at : end + 1], depth))
            at = end + 1
        else:
            plain.append(text[at])
            at += 1
    return (*parts, "".join(plain)) if plain else tuple(parts)


def _end_of(text: str, at: int) -> int | None:
    """Where the brace that was opened before is closed."""
    depth = 1
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text.startswith("${", at):
            depth += 1
            at += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    return None


def _reference(inner: str, written: str, depth: int) -> Variable | Call:
    found = re.fullmatch(r"\s*__(\w+)\s*(?:\((.*)\))?\s*", inner, re.DOTALL)
    if found is None:
        return Variable(inner.strip())
    arguments = _split(found[2]) if found[2] is not None and found[2] != "" else []
    return Call(found[1], tuple(parsed(one, depth + 1) for one in arguments), written)


def _split(text: str) -> list[str]:
    """Arguments between commas that stand in no other function and no brackets."""
    arguments, depth, start, at = [], 0, 0, 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] in "({":
            depth += 1
        elif text[at] in ")}":
            depth -= 1
        elif text[at] == "," and depth == 0:
            arguments.append(text[start:at])
            start = at + 1
        at += 1
    return [*arguments, text[start:]]


@dataclass
class Texts:
    """Turns texts into JavaScript. `unknown` counts functions that are left out, as they are written; `properties` are
    the variables that a user may set with -e, each with its default."""

    variables: Mapping[str, str] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)
    properties: dict[str, str] = field(default_factory=dict)

    def script(self, text: str) -> str:
        """A JavaScript expression of the text."""
        return self.script_of(parsed(text))

    def script_of(self, parts: Text) -> str:
        if not parts:
            return "''"
        if all(isinstance(part, str) for part in parts):
            return string_of("".join(map(str, parts)))
        if len(parts) == 1:
            return self._one(parts[0])
        texts = (template_text(part) if isinstance(part, str) else f"${{{self._one(part)}}}" for part in parts)
        return f"`{''.join(texts)}`"

    def _one(self, part: str | Variable | Call) -> str:
        if isinstance(part, str):
            return string_of(part)
        if isinstance(part, Variable):
            return f"value(vars, {string_of(part.name)})"
        made = self._call(part)
        if made is not None:
            return made
        self.unknown[f"__{part.name}"] = self.unknown.get(f"__{part.name}", 0) + 1
        return string_of(part.written)

    def _call(self, call: Call) -> str | None:
        name, given = call.name, [self.script_of(one) for one in call.arguments]
        if name in ("P", "property"):
            return self._property(call)
        known = _FUNCTIONS.get(name)
        if known is None or not known.least <= len(given) <= known.most + 1:
            return None
        if name == "time" and call.arguments and not _is_known_format(self.always(call.arguments[0])):
            return None
        made = known.make(given[: known.most])
        if len(given) > known.most and call.arguments[known.most]:  # the last one names a variable that keeps it
            return f"keep(vars, {given[known.most]}, {made})"
        return made

    def _property(self, call: Call) -> str | None:
        if not call.arguments or not (name := self.always(call.arguments[0])):
            return None
        place = 1 if call.name == "P" else 2
        default = call.arguments[place] if len(call.arguments) > place else ("1" if call.name == "P" else name,)
        self.properties.setdefault(name, self.always(default) or "")
        return f"property({string_of(name)}, {self.script_of(default)})"

    def always(self, text: str | Text, depth: int = 0) -> str | None:
        """The text where it is always the same, by the plan's own variables and defaults; None where it is not."""
        parts = parsed(text) if isinstance(text, str) else text
        found = [self._always(part, depth) for part in parts]
        return None if any(one is None for one in found) else "".join(map(str, found))

    def _always(self, part: str | Variable | Call, depth: int) -> str | None:
        if isinstance(part, str):
            return part
        if depth >= DEEPEST:
            return None
        if isinstance(part, Variable):
            value = self.variables.get(part.name)
            return None if value is None else self.always(value, depth + 1)
        if part.name in ("P", "property") and part.arguments:
            place = 1 if part.name == "P" else 2
            if len(part.arguments) > place:
                return self.always(part.arguments[place], depth + 1)
            return "1" if part.name == "P" else self.always(part.arguments[0], depth + 1)
        return None


@dataclass(frozen=True)
class _Function:
    """A function of JMeter with `least` to `most` arguments; one more names a variable."""

    least: int
    most: int
    make: Callable[[Sequence[str]], str]


_FUNCTIONS = {
    "UUID": _Function(0, 0, lambda given: "uuid()"),
    "Random": _Function(2, 2, lambda given: f"random({given[0]}, {given[1]})"),
    "RandomString": _Function(1, 2, lambda given: f"randomText({', '.join(given)})"),
    "time": _Function(0, 1, lambda given: f"timeText({', '.join(given)})"),
    "threadNum": _Function(0, 0, lambda given: "String(__VU)"),
    "counter": _Function(0, 1, lambda given: "count(vars)"),
    "V": _Function(1, 1, lambda given: f"value(vars, {given[0]})"),
    "eval": _Function(1, 1, lambda given: given[0]),
    "setProperty": _Function(2, 3, lambda given: f"setProperty({given[0]}, {given[1]})"),
    "urlencode": _Function(1, 1, lambda given: f"encoded({given[0]})"),
    "urldecode": _Function(1, 1, lambda given: f"decodeURIComponent({given[0]})"),
    "toLowerCase": _Function(1, 1, lambda given: f"{given[0]}.toLowerCase()"),
    "lowercase": _Function(1, 1, lambda given: f"{given[0]}.toLowerCase()"),
    "toUpperCase": _Function(1, 1, lambda given: f"{given[0]}.toUpperCase()"),
    "uppercase": _Function(1, 1, lambda given: f"{given[0]}.toUpperCase()"),
    "intSum": _Function(2, 2, lambda given: f"String({' + '.join(f'Number({one})' for one in given)})"),
    "longSum": _Function(2, 2, lambda given: f"String({' + '.join(f'Number({one})' for one in given)})"),
}


def _is_known_format(text: str | None) -> bool:
    """Whether it is a SimpleDateFormat of numbers alone, or `/1000`."""
    if text is None:
        return False
    return bool(re.fullmatch(r"/\d+|(?:'[^']*'|yyyy|yy|MM|dd|HH|hh|mm|ss|SSS|[^A-Za-z'])*", text))
