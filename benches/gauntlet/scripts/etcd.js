// Services that look each other up, and announce themselves.
import http from 'k6/http';
import encoding from 'k6/encoding';
import { check } from 'k6';

export const options = {
  scenarios: {
    lookups: {
      executor: 'constant-arrival-rate',
      rate: 100,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 50,
      maxVUs: 2000,
      exec: 'lookup',
    },
    announcements: {
      executor: 'constant-arrival-rate',
      rate: 25,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 1000,
      exec: 'announce',
    },
  },
  thresholds: { 'http_req_duration{name:range}': ['p(95)<200'], http_req_failed: ['rate<0.01'] },
};

const base = __ENV.BASE_URL;
const json = { headers: { 'Content-Type': 'application/json' } };
const post = (path, body, name) => http.post(`${base}/v3/kv/${path}`, JSON.stringify(body), { ...json, tags: { name } });

export function lookup() {
  const group = Math.floor(Math.random() * 50);
  const found = post('range', {
    key: encoding.b64encode(`/services/${group}/`),
    range_end: encoding.b64encode(`/services/${group}0`),
    limit: 40,
  }, 'range');
  check(found, { 'found services': (r) => r.status === 200 });
}

export function announce() {
  const number = Math.floor(Math.random() * 2000);
  const key = encoding.b64encode(`/services/${number % 50}/${number}`);
  const value = encoding.b64encode(JSON.stringify({ service: number, at: Date.now() }));
  check(post('put', { key, value }, 'put'), { 'put': (r) => r.status === 200 });
}
