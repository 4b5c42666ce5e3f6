// Members of a club look at its books.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    members: {
      executor: 'constant-arrival-rate',
      rate: 2,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 10,
      maxVUs: 500,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(90)<2000'] },
};

const base = __ENV.BASE_URL;

export default function () {
  const journal = http.get(`${base}/journal?q=date:2025-0${1 + Math.floor(Math.random() * 9)}`, { tags: { name: 'journal' } });
  check(journal, { 'journal': (r) => r.status === 200 && r.body.includes('Member') });
  const account = encodeURIComponent(`inacct:Expenses:Club ${Math.floor(Math.random() * 10)}`);
  http.get(`${base}/register?q=${account}`, { tags: { name: 'register' } });
}
