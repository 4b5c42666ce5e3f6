// What is there without an import.
import http from 'k6/http';
import { check, randomSeed } from 'k6';

export const options = { vus: 1, iterations: 4 };

randomSeed(7);

export default function () {
  const bytes = new Uint8Array([108, 195, 182, 102, 102, 101, 108]);
  check(null, {
    'the environment': () => __ENV.URL.startsWith('http'),
    'numbers of VU and iteration': () => __VU === 1 && __ITER >= 0 && __ITER < 4,
    'random numbers': () => { const n = Math.random(); return n >= 0 && n < 1; },
    'random bytes': () => crypto.getRandomValues(new Uint8Array(4)).length === 4,
    'a map, a set, a regular expression': () => new Map([[1, 2]]).get(1) + new Set([1, 1]).size === 3 && /in (\d{4})/.exec('in 1853')[1] === '1853',
    'optional chaining, defaults and spread': () => ({ a: { b: 1 } }).a?.b + (null ?? 1) + Math.max(...[1, 2]) === 4,
    'dates': () => new Date(Date.UTC(2024, 1, 29)).toISOString() === '2024-02-29T00:00:00.000Z',
  });
  check(http.post(`${__ENV.URL}/back`, bytes.buffer, { responseType: 'text' }), { 'bytes as a body': (r) => r.body === 'löffel' });
}
