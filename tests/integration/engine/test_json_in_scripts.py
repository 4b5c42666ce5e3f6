"""JSON and Response in scripts: what Plimsoll does itself says what the JavaScript engine's own functions say.

`JSON.stringify` with a replacer and `JSON.parse` with a reviver are the engine's own, so that each case is judged
against them in the same script.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from plimsoll.engine import EngineConfig, EngineRun

Server = Callable[..., str]


def failures_of(tmp_path: Path, text: str, url: str = "") -> list[str]:
    """The names of the checks that failed; every script here makes at least one check."""
    script = tmp_path / "script.js"
    script.write_text(text)
    run = EngineRun(EngineConfig(script=script, env={"URL": url}))
    list(run.snapshots())
    checks: list[dict[str, Any]] = run.result()["summary"]["root_group"]["checks"]
    assert checks
    return [check["name"] for check in checks if check["fails"] or not check["passes"]]


STRINGIFY = r"""
import { check } from 'k6';
class Point { constructor() { this.x = 1; this.y = [2, , 3]; } }
const inherited = Object.create({ hidden: 1 }); inherited.own = 2;
const sparse = [1]; sparse[3] = undefined; sparse.extra = 'not an element';
const getter = { get now() { return 7; } };
const hidden = Object.defineProperty({ a: 1 }, 'b', { value: 2, enumerable: false });
let deep = 'end'; for (let level = 0; level < 300; level += 1) deep = level % 2 ? [deep] : { deep };
const cases = {
  numbers: [0, -0, 1, -1, 2147483647, 2147483648, 1.5, 1e21, 1e-7, 0.1 + 0.2, NaN, Infinity, -Infinity, 5e-324],
  texts: ['', 'plain', '"quoted" \\ \b\f\n\r\t', '\u0000\u001f\u007f\u2028', 'größe', '日本', '😀', '\ud800', 'a\udc00b'],
  constants: [true, false, null, undefined, () => 1, Symbol('s')],
  members: { a: undefined, b: () => 1, [Symbol('s')]: 1, c: null, 'with "quote"': 1, 10: 'ten', 2: 'two', 'ключ': 1 },
  nested: { a: { b: [{ c: [[], {}] }] } },
  boxed: [new Number(3), new String('text'), new Boolean(false)],
  date: new Date(0), map: new Map([[1, 2]]), regular: /a/, error: new Error('e'), typed: new Uint8Array([1, 2]),
  toJSON: { a: { toJSON: (key) => `called for ${key}` }, list: [{ toJSON: (key) => [key, typeof key] }] },
  toJSONUndefined: { a: { toJSON() {} }, b: [{ toJSON() {} }] },
  proxy: new Proxy({ a: 1 }, {}), proxyOfArray: new Proxy([1, 2], {}),
  instance: new Point(), inherited, sparse, getter, hidden, deep,
  shared: (() => { const one = { a: 1 }; return [one, one]; })(),
  frozen: Object.freeze({ a: Object.freeze([1]) }), noPrototype: Object.assign(Object.create(null), { a: 1 }),
};
const same = (key, value) => value;
const thrown = (work) => { try { work(); } catch (error) { return error.constructor.name; } return 'nothing'; };
export default function () {
  for (const [name, value] of Object.entries(cases)) {
    check(null, { [name]: () => JSON.stringify(value) === JSON.stringify(value, same) });
  }
  check(null, {
    nothing: () => JSON.stringify() === undefined && JSON.stringify(undefined) === undefined && JSON.stringify(check) === undefined,
    primitive: () => JSON.stringify('text') === '"text"' && JSON.stringify(null) === 'null' && JSON.stringify(3) === '3',
    indented: () => JSON.stringify({ a: [1] }, null, 2) === '{\n  "a": [\n    1\n  ]\n}',
    chosen: () => JSON.stringify({ a: 1, b: 2 }, ['b']) === '{"b":2}',
    circular: () => { const ring = {}; ring.ring = [ring]; return thrown(() => JSON.stringify(ring)) === 'TypeError'; },
    bigint: () => thrown(() => JSON.stringify({ big: 1n })) === 'TypeError',
    throwing: () => thrown(() => JSON.stringify({ get a() { throw new RangeError('no'); } })) === 'RangeError',
    endless: () => {
      const endless = (levels) => ({ toJSON: () => [endless(levels + 1)] });
      return thrown(() => JSON.stringify(endless(0))) !== 'nothing';
    },
  });
}
"""


def test_stringify_says_what_the_engine_says(tmp_path: Path) -> None:
    assert failures_of(tmp_path, STRINGIFY) == []


PARSE = r"""
import { check } from 'k6';
const texts = [
  'null', ' true ', '0', '-0', '12345678901234567890', '1.7976931348623157e308', '1e400', '-1E-5', '0.1', '123e-7',
  '2147483647', '2147483648', '-2147483648', '9007199254740993', '5e-324', '2.2250738585072011e-308', '8.41e21',
  '""', '"\\u00e9\\ud83d\\ude00\\n\\/"', '"größe 日本 😀"', '"\\ud800"', '[]', '{}', '[1,[2,[3]]]', '\n{ "a" : 1 , "b":[ ] }\t',
  '{"a":1,"a":2}', '{"__proto__":1}', '{"2":"two","10":"ten","1":"one","x":0}', '{"":1}', '{"length":3,"constructor":null}',
  '['.repeat(300) + ']'.repeat(300),
];
const wrong = ['', ' ', '{', '[1,]', '{"a":1,}', "{'a':1}", '01', '+1', '.5', '1.', 'nul', 'NaN', '"\t"', '"\\x"', '[1] 2', 'undefined'];
const same = (key, value) => value;
const seen = (value) => `${Object.is(value, -0)} ${JSON.stringify(value, same)} ${Object.prototype.toString.call(value)}`;
const thrown = (work) => { try { work(); } catch (error) { return `${error.constructor.name}: ${error.message}`; } return 'nothing'; };
export default function () {
  for (const text of texts) {
    check(null, { [text.slice(0, 40)]: () => seen(JSON.parse(text)) === seen(JSON.parse(text, same)) });
  }
  for (const text of wrong) {
    check(null, { [`wrong: ${text}`]: () => {
      const message = thrown(() => JSON.parse(text));
      return message.startsWith('SyntaxError') && message === thrown(() => JSON.parse(text, same));
    } });
  }
  check(null, {
    prototype: () => Object.getPrototypeOf(JSON.parse('{"__proto__":{"a":1}}')) === Object.prototype,
    notText: () => JSON.parse(12) === 12 && JSON.parse(null) === null && thrown(() => JSON.parse(undefined)).startsWith('SyntaxError'),
    revived: () => JSON.parse('[1,2]', (key, value) => (typeof value === 'number' ? value + 1 : value)).join() === '2,3',
  });
}
"""


def test_parse_says_what_the_engine_says(tmp_path: Path) -> None:
    assert failures_of(tmp_path, PARSE) == []


RESPONSE = r"""
import http from 'k6/http';
import { check } from 'k6';
const FIELDS = ['status', 'status_text', 'url', 'proto', 'remote_ip', 'remote_port', 'tls_version', 'error', 'error_code',
  'body', 'timings', 'headers', 'cookies', 'request'];
const PHASES = ['duration', 'blocked', 'looking_up', 'connecting', 'tls_handshaking', 'sending', 'waiting', 'receiving'];
export default function () {
  const response = http.post(`${__ENV.URL}/x`, JSON.stringify({ a: 1 }), { headers: { 'X-Own': 'yes' } });
  const other = http.get(`${__ENV.URL}/y`);
  const listed = []; for (const name in response) listed.push(name);
  const written = http.get(__ENV.URL); written.status = 299; written.body = 'mine'; written.timings = null; written.headers = {};
  check(response, {
    'fields are listed': () => FIELDS.every((name) => listed.includes(name)),
    'fields are in its JSON': (r) => FIELDS.every((name) => name in JSON.parse(JSON.stringify(r))),
    'phases are in its JSON': (r) => PHASES.every((name) => typeof JSON.parse(JSON.stringify(r)).timings[name] === 'number'),
    'phases are listed': (r) => { const found = []; for (const name in r.timings) found.push(name); return PHASES.every((name) => found.includes(name)); },
    'made once': (r) => r.timings === r.timings && r.headers === r.headers && r.request === r.request && r.cookies === r.cookies,
    'apart from another': (r) => r.url !== other.url && r.timings !== other.timings,
    'request': (r) => r.request.method === 'POST' && r.request.body === '{"a":1}' && r.request.headers['X-Own'] === 'yes',
    'status text': (r) => r.status_text === '200 Known' && r.error === '' && r.error_code === 0,
    'written fields stay': () => written.status === 299 && written.body === 'mine' && written.timings === null
      && Object.keys(written.headers).length === 0 && other.status === 200,
    'sum of phases': (r) => Math.abs(r.timings.sending + r.timings.waiting + r.timings.receiving - r.timings.duration) < 1e-9,
  });
}
"""


def test_response_is_a_plain_object_to_scripts(tmp_path: Path, known_server: Server) -> None:
    assert failures_of(tmp_path, RESPONSE, known_server()) == []


CHECKS = r"""
import { check } from 'k6';
const thrown = (work) => { try { work(); } catch (error) { return error.message; } return 'nothing'; };
export default function () {
  const seen = [];
  const all = check(7, { first: (value) => { seen.push(value); return value === 7; }, truthy: () => 'text', constant: true });
  const none = check(7, { falsy: () => 0, nothing: () => undefined });
  let after = false;
  const message = thrown(() => check(null, { throws: () => { throw new Error('inside'); }, after: () => { after = true; } }));
  check(null, {
    'outcomes': () => all === true && none === false && seen.join() === '7',
    'a throwing test ends the check': () => message === 'inside' && !after,
    'asynchronous tests are refused': () => thrown(() => check(null, { later: async () => true })).includes("check 'later'"),
    'no object of tests': () => thrown(() => check(null)).includes('object of tests'),
  }, { kind: 'own' });
}
"""


def test_check_records_each_test(tmp_path: Path) -> None:
    assert failures_of(tmp_path, CHECKS) == ["falsy", "nothing", "throws"]
