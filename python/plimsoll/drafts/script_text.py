"""The script of a draft: plain k6, one exported function for each operation, to be read and changed by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from plimsoll.drafts.draft import Draft, DraftOperation
from plimsoll.drafts.left_out import LeftOut
from plimsoll.plain_text import plain
from plimsoll.words import number

VALUES_FILE = "values.json"
_MOST_NAMED = 20
_HEAD = """// Load on {what}, a draft by `plimsoll new` from {source}. Change it as you need.
//
//   BASE_URL     where the service answers; a study gives it    {url}
//   TOKEN        sent as "Authorization: Bearer …", if given
//   USERS        how many users, without a study                {users}
//   DURATION     for how long, without a study                  1m
import http from 'k6/http';
import {{ check }} from 'k6';
{data_import}
const BASE_URL = (__ENV.BASE_URL || {url_text}).replace(/\\/+$/, '');
const USERS = Number(__ENV.USERS || {users});
const DURATION = __ENV.DURATION || '1m';
{headers}
"""
_HEADERS = """const HEADERS = { 'Accept-Encoding': 'gzip' };
if (__ENV.TOKEN) HEADERS.Authorization = `Bearer ${__ENV.TOKEN}`;"""
_TAIL = """
// A request that succeeds answers with a status from 200 to 399; a redirect is not followed, as it is an operation of
// its own.
function get(path, name, method = 'GET') {
  const response = http.request(method, BASE_URL + path, null, { headers: HEADERS, redirects: 0, tags: { name } });
  check(response, { 'status is 200 to 399': (answer) => answer.status >= 200 && answer.status < 400 });
  return response;
}
"""
_DRAW = """
// What came often is there often, so each is as likely as any other.
function anyOf(list) {
  return list[Math.floor(Math.random() * list.length)];
}
"""
RATE = """
// Arrivals per hour, as k6 wants whole numbers.
function perUserHour(rate, exec) {
  return {
    executor: 'constant-arrival-rate',
    rate: Math.max(1, Math.round(rate * USERS)),
    timeUnit: '1h',
    duration: DURATION,
    preAllocatedVUs: 5,
    maxVUs: 100,
    exec,
  };
}
"""


def script_of(draft: Draft) -> str:
    """The text of script.js of operations that are each on its own."""
    drawn = any(one.rows for one in draft.operations)
    parts = [_head(draft, drawn), _options(draft.operations), *map(_function, draft.operations), _TAIL]
    parts += [_DRAW] if drawn else []
    parts += [RATE, *_missing(draft.left_out)]
    return "".join(parts)


def values_of(draft: Draft) -> str | None:
    """The text of values.json, a row a line; None where nothing is drawn."""
    drawn = [one for one in draft.operations if one.rows]
    if not drawn:
        return None
    lists = []
    for one in drawn:
        rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in one.rows)
        lists.append(f"  {json.dumps(one.name)}: [\n{rows}\n  ]")
    return "{\n" + ",\n".join(lists) + "\n}\n"


def users_of(draft: Draft) -> float:
    """How many users the load is of where nobody says."""
    return draft.expected_users or 1.0


def _head(draft: Draft, drawn: bool) -> str:
    url = draft.url or "http://127.0.0.1:8080"
    data = "import { SharedArray } from 'k6/data';\n" if drawn else ""
    return _HEAD.format(
        what=comment(draft.url or "a service"),
        source=comment(draft.source),
        url=comment(url),
        url_text=string_of(url),
        users=f"{users_of(draft):g}",
        data_import=data,
        headers=_HEADERS,
    )


def _options(operations: Sequence[DraftOperation]) -> str:
    lines = "".join(
        f"    {one.name}: perUserHour({one.per_user_hour:g}, {string_of(one.exec)}),\n" for one in operations
    )
    values = "".join(
        f"const {_list_name(one)} = new SharedArray({string_of(one.name)}, "
        f"() => JSON.parse(open('./{VALUES_FILE}'))[{string_of(one.name)}]);\n"
        for one in operations
        if one.rows
    )
    return (
        f"{values}\n// Used by `k6 run` and `plimsoll run`; the study has rates of its own.\n"
        f"export const options = {{\n  scenarios: {{\n{lines}  }},\n}};\n"
    )


def _function(one: DraftOperation) -> str:
    method = "" if one.method == "GET" else f", {string_of(one.method)}"
    drawn = f"  const one = anyOf({_list_name(one)});\n" if one.rows else ""
    return (
        f"\n/** {comment(one.request)} */\nexport function {one.exec}() {{\n"
        f"{drawn}  get({_path(one)}, {string_of(one.request)}{method});\n}}\n"
    )


def _path(one: DraftOperation) -> str:
    """The path as JavaScript: a string, or a template with the values of a row."""
    fixed = f"?{one.fixed_query}" if one.fixed_query else ""
    if not one.rows:
        return string_of(one.template + fixed)
    text = template_text(one.template + fixed)
    for name in one.rows[0]:
        if name != "query":
            text = text.replace(f"{{{name}}}", f"${{one.{name}}}", 1)
    return f"`{text}{'${one.query}' if 'query' in one.rows[0] else ''}`"


def _list_name(one: DraftOperation) -> str:
    return f"{one.exec}Values"


def string_of(text: str) -> str:
    """JavaScript of a text in single quotes."""
    inner = json.dumps(text, ensure_ascii=True)[1:-1].replace('\\"', '"').replace("'", "\\'")
    return f"'{inner}'"


def template_text(text: str) -> str:
    """The text within a JavaScript template."""
    escaped = json.dumps(text, ensure_ascii=True)[1:-1].replace('\\"', '"')
    return escaped.replace("`", "\\`").replace("${", "\\${")


def comment(text: str) -> str:
    """Text of others within a comment, which it cannot end."""
    return plain(text).replace("*/", "* /")


def _missing(left_out: Iterable[LeftOut]) -> Iterator[str]:
    """What somebody may want to write by hand."""
    writes = [one for one in left_out if one.kind in ("write", "not_read")]
    if not writes:
        return
    yield "\n// Not here, as it writes and its bodies are not known. Add what matters, to the study too:\n"
    for one in writes[:_MOST_NAMED]:
        rate = "" if one.per_user_hour is None else f"  {number(one.per_user_hour)} per user and hour"
        yield f"//   {comment(one.request)}{rate}\n"
    if len(writes) > _MOST_NAMED:
        yield f"//   and {len(writes) - _MOST_NAMED} more\n"
