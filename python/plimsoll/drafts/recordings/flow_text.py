"""The script of a recording: its requests one after the other in one exported function, with what later ones take from
earlier answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from plimsoll.drafts.draft import Draft
from plimsoll.drafts.recordings.correlation import Part, Reference, Secret, Step, Taken
from plimsoll.drafts.script_text import RATE, comment, string_of, template_text

_HEAD = """// {what}, a draft by `plimsoll new` from {source}. Change it as you need.
//
//   BASE_URL     where the service answers; a study gives it    {url}
//   TOKEN        sent as "Authorization: Bearer …", if given
{secrets}//   USERS        how many users, without a study                1
//   DURATION     for how long, without a study                  1m
import http from 'k6/http';
import {{ check }} from 'k6';

const BASE_URL = (__ENV.BASE_URL || {url_text}).replace(/\\/+$/, '');
const USERS = Number(__ENV.USERS || 1);
const DURATION = __ENV.DURATION || '1m';
{constants}
// Used by `k6 run` and `plimsoll run`; the study has rates of its own.
export const options = {{
  scenarios: {{
    {name}: perUserHour({rate}, '{function}'),
  }},
}};

/** What was recorded, without pauses: how often users come sets the pace. Cookies are kept for each of them. */
export function {function}() {{
"""
_TAIL = """
// A request that succeeds answers with a status from 200 to 399; a redirect is not followed, as it was recorded as a
// request of its own.
function send(method, path, name, body = null, headers = {}, token = __ENV.TOKEN) {
  const all = { 'Accept-Encoding': 'gzip', ...headers };
  if (token) all.Authorization = `Bearer ${token}`;
  const response = http.request(method, BASE_URL + path, body, { headers: all, redirects: 0, tags: { name } });
  check(response, { 'status is 200 to 399': (answer) => answer.status >= 200 && answer.status < 400 });
  return response;
}
"""
_FOUND = """
// Whether an answer had what the next requests need; without it they make no sense.
function isFound(value, what) {
  return check(value, { [`${what} is in the answer`]: (one) => one !== undefined && one !== null && one !== '' });
}
"""
_VALUE = """
// A value of an answer in JSON, by its path; undefined where it is not there.
function valueIn(response, path) {
  try {
    return response.json(path);
  } catch {
    return undefined;
  }
}
"""
_FIELD = """
// The value of a hidden field of a page; undefined where it is not there.
function fieldIn(response, name) {
  const inputs = String(response.body || '').match(/<input[^>]*>/gi) || [];
  const input = inputs.find((one) => one.includes(`name="${name}"`) || one.includes(`name='${name}'`));
  const value = input && /value=["']([^"']*)["']/i.exec(input);
  return value ? value[1].replace(/&quot;/g, '"').replace(/&#39;/g, "'").replace(/&amp;/g, '&') : undefined;
}
"""


def flow_script_of(draft: Draft) -> str:
    """The text of script.js."""
    [operation] = draft.operations
    url = draft.url or "http://127.0.0.1:8080"
    head = _HEAD.format(
        what=f"Load on {comment(draft.url or 'a service')}",
        source=comment(draft.source),
        url=comment(url),
        url_text=string_of(url),
        name=operation.name,
        function=operation.exec,
        rate=f"{operation.per_user_hour:g}",
        secrets="".join(f"//   {name:<18} {comment(what)}\n" for name, what in draft.secrets),
        constants="".join(f"const {name} = __ENV.{name} || '';\n" for name, _ in draft.secrets),
    )
    taken = [one for step in draft.steps for one in step.takes]
    parts = [head, *map(_step, draft.steps, range(1, len(draft.steps) + 1)), "}\n", _TAIL]
    parts += [_FOUND] if taken else []
    parts += [_VALUE] if any(one.path for one in taken) else []
    parts += [_FIELD] if any(one.field for one in taken) else []
    return "".join([*parts, RATE])


def _step(step: Step, number: int) -> str:
    arguments = [string_of(step.method), _target(step.target), string_of(step.request)]
    body = _body(step)
    headers = f"{{ 'Content-Type': {string_of(step.content_type)} }}" if body and step.form is None else "{}"
    if body or step.bearer is not None:
        arguments.append(body or "null")
    if (body and step.form is None) or step.bearer is not None:
        arguments.append(headers)
    if step.bearer is not None:
        arguments.append(step.bearer.variable)
    answer = f"const answer{number} = " if step.takes else ""
    lines = [f"  {answer}send({', '.join(arguments)});\n"]
    for one in step.takes:
        lines.append(f"  const {one.variable} = {_taking(one, number)};\n")
        lines.append(f"  if (!isFound({one.variable}, {string_of(one.words)})) return;\n")
    return "".join(lines)


def _taking(one: Taken, number: int) -> str:
    function, where = ("valueIn", one.path) if one.path else ("fieldIn", one.field)
    return f"{function}(answer{number}, {string_of(where)})"


def _target(parts: tuple[Part, ...]) -> str:
    if all(isinstance(part, str) for part in parts):
        return string_of("".join(map(str, parts)))
    texts = (
        template_text(part) if isinstance(part, str) else f"${{encodeURIComponent({_name(part)})}}" for part in parts
    )
    return f"`{''.join(texts)}`"


def _body(step: Step) -> str | None:
    """JavaScript of a body: an object is sent as a form."""
    if step.form is not None:
        return "".join(["{ ", ", ".join(_fields(step.form)), " }"])
    if step.document is not None:
        return f"JSON.stringify({_value(step.document)})"
    return None if step.text is None else string_of(step.text)


def _fields(form: tuple[tuple[str, Part], ...]) -> Iterator[str]:
    """Fields of one name are a list, as k6 sends each of a list."""
    by_name: dict[str, list[str]] = {}
    for name, part in form:
        by_name.setdefault(name, []).append(_value(part))
    for name, values in by_name.items():
        listed = ", ".join(values)
        yield f"{string_of(name)}: {listed if len(values) == 1 else f'[{listed}]'}"


def _value(given: Any) -> str:
    if isinstance(given, Reference | Secret):
        name = _name(given)
        return f"String({name})" if isinstance(given, Reference) and given.is_text else name
    if isinstance(given, dict):
        return (
            f"{{ {', '.join(f'{_key(name)}: {_value(value)}' for name, value in given.items())} }}" if given else "{}"
        )
    if isinstance(given, list):
        return f"[{', '.join(map(_value, given))}]"
    return string_of(given) if isinstance(given, str) else json.dumps(given)


def _key(name: str) -> str:
    """A key is computed, as `__proto__` is a key like others in JSON."""
    return "['__proto__']" if name == "__proto__" else string_of(name)


def _name(part: Reference | Secret) -> str:
    return part.variable if isinstance(part, Reference) else part.name
