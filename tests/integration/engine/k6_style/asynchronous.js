// Asynchronous functions, and requests that go on beside the script.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 2, iterations: 6 };

const later = (value) => new Promise((resolve) => { setTimeout(() => resolve(value), 10); });

export async function setup() {
  return { word: await later('ready') };
}

export default async function (data) {
  const begin = Date.now();
  const [one, two] = await Promise.all([
    http.asyncRequest('GET', `${__ENV.URL}/wait/50`),
    http.asyncRequest('POST', `${__ENV.URL}/wait/50`, 'two'),
  ]);
  const took = Date.now() - begin;
  check(null, {
    'what setup promised': () => data.word === 'ready',
    'both came': () => one.status === 200 && two.json('body') === 'two',
    'beside each other': () => took < 95,
    'finally comes last': () => true,
  });
  const tried = await later('x').then(() => { throw new Error('thrown in a promise'); }).catch((error) => error.message);
  check(tried, { 'an error can be caught': (message) => message === 'thrown in a promise' });
  http.asyncRequest('GET', `${__ENV.URL}/echo`).then((r) => check(r, { 'nobody waits for it, and it counts': () => r.status === 200 }));
}
