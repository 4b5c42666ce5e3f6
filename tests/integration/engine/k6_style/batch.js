// Requests at once: as a list, as an object, by URL and by request object.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 4, batch: 10, batchPerHost: 0 };

const at = (path) => `${__ENV.URL}${path}`;

export default function () {
  const list = http.batch([
    ['GET', at('/wait/60?n=1'), null, { tags: { kind: 'first' } }],
    ['POST', at('/wait/60'), 'second'],
    { method: 'PUT', url: at('/wait/60'), body: { third: 3 } },
    at('/wait/60?n=4'),
  ]);
  check(list, {
    'a list comes back in its order': (l) => l.map((r) => r.json('method')).join() === 'GET,POST,PUT,GET',
    'bodies stay with their requests': (l) => l[1].json('body') === 'second' && l[2].json('body') === 'third=3',
  });
  const named = http.batch({ page: at('/status/200'), lost: { method: 'GET', url: at('/status/404') } });
  check(named, { 'an object comes back by its names': (n) => n.page.status === 200 && n.lost.status === 404 });
}
