// Asynchronous functions, and requests that go on beside the script.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 2, iterations: 6 };

const later = (value) => new Promise((resolve) => { setTimeout(() => resolve(value), 10); });

export async function setup() {
  return { word: await later('ready') };
}

export default async function (data) {
  const order = [];
  const [one, two] = await Promise.all([
    http.asyncRequest('GET', `${__ENV.URL}/wait/150`).finally(() => order.push('one')),
    http.asyncRequest('POST', `${__ENV.URL}/wait/20`, 'two').finally(() => order.push('two')),
  ]);
  check(null, {
    'what setup promised': () => data.word === 'ready',
    'both came': () => one.status === 200 && two.json('body') === 'two',
    'beside each other: the quicker one first': () => order.join() === 'two,one',
  });
  const tried = await later('x').then(() => { throw new Error('thrown in a promise'); }).catch((error) => error.message);
  check(tried, { 'an error can be caught': (message) => message === 'thrown in a promise' });
  http.asyncRequest('GET', `${__ENV.URL}/echo`).then((r) => check(r, { 'nobody waits for it, and it counts': () => r.status === 200 }));
}
