// Readers of a manual.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    readers: {
      executor: 'constant-arrival-rate',
      rate: 50,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 30,
      maxVUs: 1500,
    },
  },
  discardResponseBodies: true,
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<300'] },
};

const base = __ENV.BASE_URL;
const params = (name) => ({ headers: { 'Accept-Encoding': 'gzip' }, tags: { name } });

export default function () {
  const chapter = Math.floor(Math.random() * 39);
  check(http.get(`${base}/?chapter=${chapter}`, params('chapter')), { chapter: (r) => r.status === 200 });
  http.get(`${base}/?chapter=${chapter + 1}`, params('next chapter'));
  if (Math.random() < 0.1) http.get(`${base}/chapter-${chapter}.md`, params('source'));
}
