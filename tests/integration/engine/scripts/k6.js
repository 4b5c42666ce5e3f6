import { check, fail, group, randomSeed, sleep } from 'k6';
import exec from 'k6/execution';
const thrown = (work) => { try { work(); } catch (error) { return error.message; } return 'nothing'; };
const inInit = [
  [() => check(1, { a: true }), 'check() does not work in the init context'], [() => group('g', () => 1), 'group() does not work in the init context'],
  [() => fail('x'), 'x'], [() => sleep(1000), 'nothing'],
].map(([work, wanted]) => thrown(work).includes(wanted));
const draw = (seed) => { randomSeed(seed); return [Math.random(), Math.random(), Math.random()].join(); };
export default function () {
  const seen = [];
  const returned = group('outer', () => group('inner', () => { check(1, { deep: true }); return exec.vu.metrics.tags.group; }));
  check(null, {
    'in init': () => inInit.every(Boolean),
    'group returns': () => returned === '::outer::inner' && exec.vu.metrics.tags.group === '' && group('promise', () => Promise.resolve(1)) instanceof Promise,
    'group passes errors on': () => thrown(() => group('throws', () => { throw new Error('inside'); })) === 'inside' && exec.vu.metrics.tags.group === '',
    'group wants a function': () => ['x', 5, null, undefined].every((body) => thrown(() => group('g', body)).includes('wants a function')),
    'group refuses async': () => thrown(() => group('g', async () => seen.push('called'))).includes('asynchronous') && seen.length === 0,
    'no separator in names': () => thrown(() => group('a::b', () => 1)).includes("may not contain '::'") && thrown(() => check(1, { 'a::b': true })).includes("may not contain '::'"),
    'check wants tests': () => [undefined, null].every((tests) => thrown(() => check(1, tests)).includes('object of tests')) && thrown(() => check()).includes('object of tests'),
    'check refuses async': () => thrown(() => check(1, { later: async () => true })).includes("check 'later' is asynchronous"),
    'check of tags': () => check(1, { tagged: true }, { kind: 'own', number: 5, flag: true }) && check(1, { tagged: true }, 'no tags')
      && thrown(() => check(1, { untagged: true }, { kind: {} })).includes("the tag 'kind'"),
    'nested': () => check(2, { outer: (outer) => check(outer, { inner: (inner) => inner === 2 }) }),
    'nothing to check': () => check(1, {}) === true,
    'fail': () => thrown(() => fail('why')) === 'why' && thrown(() => fail()).includes('fail()'),
    'sleep': () => { const began = Date.now(); sleep(0.05); sleep('0.05'); return Date.now() - began >= 99; },
    'sleep of no time': () => [undefined, null, NaN, -1, 'x', 0].every((seconds) => thrown(() => sleep(seconds)) === 'nothing'),
    'seeds': () => draw(7) === draw(7) && draw(7) !== draw(8) && draw(1) !== draw(4294967297) && draw(-1) === draw(-1) && draw('5') === draw(5),
    'a seed gives all of [0, 1)': () => { randomSeed(3); const all = Array.from({ length: 1000 }, Math.random); return Math.min(...all) < 0.01 && Math.max(...all) > 0.99 && all.every((x) => x >= 0 && x < 1); },
  });
}
