// What a response holds: selectors, kinds of body, codings, expected statuses, errors.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 5, thresholds: { http_req_failed: ['rate < 0.2'] } };

export default function () {
  const library = { shelves: [{ name: 'A', books: 12 }, { name: 'B', books: 40 }], 'opening.hours': '9-17' };
  const response = http.post(`${__ENV.URL}/back`, JSON.stringify(library));
  check(response, {
    'a name and an index': (r) => r.json('shelves.1.books') === 40,
    'the number of rows': (r) => r.json('shelves.#') === 2,
    'one field of all rows': (r) => r.json('shelves.#.name').join('') === 'AB',
    'a row that is looked for': (r) => r.json('shelves.#(books>20).name') === 'B',
    'a name with a dot': (r) => r.json('opening\\.hours') === '9-17',
    'what is not there': (r) => r.json('cellar') === undefined,
    'all of it': (r) => r.json().shelves.length === 2,
  });
  for (const coding of ['gzip', 'deflate', 'br', 'zstd']) {
    check(http.get(`${__ENV.URL}/encoded/${coding}`), { [`${coding} is taken off`]: (r) => r.json('hello') === 'world' });
  }
  check(http.get(`${__ENV.URL}/echo`, { responseType: 'none' }), { 'a body that nobody wants': (r) => r.status === 200 && r.body === null });
  const own = { responseCallback: http.expectedStatuses(404, { min: 500, max: 503 }) };
  check(http.get(`${__ENV.URL}/status/404`, own), { 'a 404 that is expected': (r) => r.status === 404 && r.error_code === 1404 });
  check(http.get(`${__ENV.URL}/status/500`), { 'a 500 that is not': (r) => r.status === 500 && r.error_code === 1500 });
}
