"""What is done with an answer: extractors that keep a part of it in a variable, assertions that check it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from plimsoll.drafts.jmeter.plan_tree import Node
from plimsoll.drafts.jmeter.texts import Texts

EXTRACTORS = ("RegexExtractor", "JSONPostProcessor", "BoundaryExtractor")
ASSERTIONS = ("ResponseAssertion", "DurationAssertion", "JSONPathAssertion")
_MATCH, _CONTAINS, _NOT, _EQUALS, _SUBSTRING, _OR = 1, 2, 4, 8, 16, 32
_FIELDS = {
    "Assertion.response_code": "String(answer.status)",
    "Assertion.response_data": "bodyOf(answer)",
    "Assertion.response_headers": "headersOf(answer)",
    "Assertion.sample_label": "answer.url",  # what the plan's page calls URL
}
_PLACES = {"false": "bodyOf(answer)", "": "bodyOf(answer)", "unescaped": "bodyOf(answer)", "true": "headersOf(answer)",
           "code": "String(answer.status)", "URL": "answer.url"}  # fmt: skip


def extracting(node: Node, texts: Texts) -> list[str] | str:
    """Statements of an extractor, or why there are none."""
    scope = node.text("Sample.scope")
    if scope and scope != "parent":
        return f"it reads {'a variable' if scope == 'variable' else 'sub-samples'} and not the answer"
    if node.kind == "JSONPostProcessor":
        return _of_json(node, texts)
    if node.kind == "BoundaryExtractor":
        return _of_boundaries(node, texts)
    return _of_regex(node, texts)


def _of_regex(node: Node, texts: Texts) -> list[str] | str:
    place = _PLACES.get(node.text("RegexExtractor.useHeaders"))
    if place is None:
        return "it reads a part of the sample that no script sees"
    pattern = texts.script(node.text("RegexExtractor.regex"))
    template = texts.script(node.text("RegexExtractor.template") or "$1$")
    return _kept(node, "RegexExtractor", f"matches({place}, {pattern}, {template})", texts)


def _of_boundaries(node: Node, texts: Texts) -> list[str] | str:
    place = _PLACES.get(node.text("BoundaryExtractor.useHeaders"))
    if place is None:
        return "it reads a part of the sample that no script sees"
    sides = ", ".join(texts.script(node.text(f"BoundaryExtractor.{side}boundary")) for side in "lr")
    return _kept(node, "BoundaryExtractor", f"between({place}, {sides})", texts)


def _kept(node: Node, prefix: str, found: str, texts: Texts) -> list[str]:
    default = node.text(f"{prefix}.default")
    is_empty = node.flag(f"{prefix}.default_empty_value")
    otherwise = texts.script(default) if default or is_empty else "undefined"
    number = texts.script(node.text(f"{prefix}.match_number") or "1")
    return [f"extract(vars, {texts.script(node.text(f'{prefix}.refname'))}, {found}, {number}, {otherwise});"]


def _of_json(node: Node, texts: Texts) -> list[str] | str:
    names = node.text("JSONPostProcessor.referenceNames").split(";")
    paths = [one.strip() for one in node.text("JSONPostProcessor.jsonPathExprs").split(";")]
    numbers = node.text("JSONPostProcessor.match_numbers").split(";")
    defaults = node.text("JSONPostProcessor.defaultValues").split(";")
    lines = []
    for at, (name, path) in enumerate(zip(names, paths, strict=False)):
        steps = json_steps(path, texts)
        if steps is None:
            return f"its path {path} has filters or functions"
        number = numbers[at].strip() if at < len(numbers) and numbers[at].strip() else "0" if len(numbers) > 1 else ""
        default = defaults[at] if at < len(defaults) else ""
        found = f"inJson(answer, {steps})"
        known = ", ".join(texts.script(one) for one in (number or "0", default))
        lines.append(f"extract(vars, {texts.script(name.strip())}, {found}, {known});")
    return lines


_STEP = re.compile(
    r"(?P<deep>\.\.)(?P<deep_key>[\w@$-]+|\*)?|\.(?P<key>[\w@$-]+|\*)|\.?\[(?P<index>-?\d+)\]|\.?\[\s*(?P<all>\*)\s*\]|"
    r"\.?\[\s*(?:'(?P<single>[^']*)'|\"(?P<double>[^\"]*)\")\s*\]|"
    r"\.?\[\s*\?\s*\(\s*@\.(?P<tested>[\w.-]+)\s*(?P<sign>==|!=)\s*(?:'(?P<text>[^']*)'|\"(?P<text2>[^\"]*)\")\s*\)\s*\]"
)


def json_steps(path: str, texts: Texts) -> str | None:
    """JavaScript of the steps of a JSONPath: $.a.b[0], $['a'], $..id, $.list[*].id, $.list[?(@.id == 'x')].name; None
    for those with other filters, and with functions."""
    path = path if path.startswith("$") else f"$.{path}"
    steps: list[str] = []
    at = 1
    while at < len(path):
        found = _STEP.match(path, at)
        if found is None or found.end() == at or path.startswith("()", found.end()):
            return None
        at = found.end()
        if found["deep"] and found["deep_key"] is None and not path.startswith("[", at):
            return None
        steps += _steps_of(found, texts)
    return f"[{', '.join(steps)}]"


def _steps_of(found: re.Match[str], texts: Texts) -> list[str]:
    if found["tested"]:
        wanted = texts.script(found["text"] if found["text"] is not None else found["text2"])
        keys = "".join(f"?.[{json.dumps(one)}]" for one in found["tested"].split("."))
        return [f"['where', (one) => String(one{keys}) {'=' if found['sign'] == '==' else '!'}== {wanted}]"]
    if found["index"] is not None:
        return [f"['index', {int(found['index'])}]"]
    names = (found[part] for part in ("deep_key", "key", "single", "double"))
    name = next((one for one in names if one is not None), None)
    is_all = bool(found["all"]) or (name == "*" and found["single"] is None and found["double"] is None)
    step = ["['all']"] if is_all else [] if name is None else [f"['key', {json.dumps(name)}]"]
    return ["['deep']", *step] if found["deep"] else step


def checking(node: Node, texts: Texts) -> list[tuple[str, str]] | str:
    """(what is checked, a JavaScript expression) of an assertion, or why there is none."""
    if node.kind == "DurationAssertion":
        limit = texts.script(node.text("DurationAssertion.duration"))
        return [(node.name or "duration", f"answer.timings.duration <= Number({limit})")]
    if node.kind == "JSONPathAssertion":
        return _json_checked(node, texts)
    field = node.text("Assertion.test_field")
    value = _FIELDS.get(field)
    if value is None:
        return "it looks at a part of the sample that no script sees"
    try:
        kind = int(node.text("Assertion.test_type") or "2")
    except ValueError:
        return "its kind is not a number"
    tests = [texts.script(one[""]) for one in node.rows("Asserion.test_strings") if "" in one]
    if not tests:
        return "it has nothing to look for"
    each = [_test(value, one, kind) for one in tests]
    whole = (" || " if kind & _OR else " && ").join(f"!{one}" if kind & _NOT else one for one in each)
    return [(node.name or "assertion", whole)]


def _test(value: str, wanted: str, kind: int) -> str:
    if kind & _EQUALS:
        return f"({value} === {wanted})"
    if kind & _SUBSTRING:
        return f"{value}.includes({wanted})"
    return f"{'matchesWhole' if kind & _MATCH else 'contains'}({value}, {wanted})"


def ignores_status(nodes: Iterator[Node]) -> bool:
    """Whether an assertion says that a status of failure is none."""
    return any(one.kind == "ResponseAssertion" and one.flag("Assertion.assume_success") for one in nodes)


def _json_checked(node: Node, texts: Texts) -> list[tuple[str, str]] | str:
    steps = json_steps(node.text("JSON_PATH").strip(), texts)
    if steps is None:
        return f"its path {node.text('JSON_PATH')} has filters or functions"
    found = f"inJson(answer, {steps})"
    whole = f"{found}.length > 0"
    if node.flag("JSONVALIDATION"):
        wanted = texts.script(node.text("EXPECTED_VALUE"))
        test = f"matchesWhole(textOf(one), {wanted})" if node.flag("ISREGEX", True) else f"textOf(one) === {wanted}"
        whole = f"{found}.some((one) => {'one === null' if node.flag('EXPECT_NULL') else test})"
    return [(node.name or "JSON path", f"!({whole})" if node.flag("INVERT") else whole)]
