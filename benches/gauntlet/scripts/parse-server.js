// A phone opens its notes, reads one, and now and then writes or stars one.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    phones: {
      executor: 'constant-arrival-rate',
      rate: 10,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 30,
      maxVUs: 1500,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'] },
};

const notes = `${__ENV.BASE_URL}/parse/classes/Note`;
const headers = { 'X-Parse-Application-Id': 'notes', 'Content-Type': 'application/json' };

export default function () {
  const owner = `owner${Math.floor(Math.random() * 100)}`;
  const where = encodeURIComponent(JSON.stringify({ owner }));
  const list = http.get(`${notes}?where=${where}&order=-createdAt&limit=20`, { headers, tags: { name: 'list' } });
  if (!check(list, { 'has notes': (r) => r.status === 200 && r.json('results').length > 0 })) return;
  const id = list.json('results.0.objectId');
  http.get(`${notes}/${id}`, { headers, tags: { name: 'read' } });
  if (Math.random() < 0.3) {
    const note = JSON.stringify({ owner, title: 'A thought', text: 'remember this', stars: 0 });
    check(http.post(notes, note, { headers, tags: { name: 'write' } }), { written: (r) => r.status === 201 });
  }
  if (Math.random() < 0.2) {
    http.put(`${notes}/${id}`, JSON.stringify({ stars: { __op: 'Increment', amount: 1 } }), { headers, tags: { name: 'star' } });
  }
}
