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
