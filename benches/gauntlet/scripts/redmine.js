// Visitors of a public project: overview, its issues, one of them.
import http from 'k6/http';
import { check, group } from 'k6';

export const options = {
  scenarios: {
    visitors: {
      executor: 'constant-arrival-rate',
      rate: 1,
      timeUnit: '1s',
      duration: '2m',
      preAllocatedVUs: 10,
      maxVUs: 600,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<2000'] },
};

const base = __ENV.BASE_URL;

export default function () {
  group('overview', () => {
    check(http.get(`${base}/projects/harbour`, { tags: { name: 'overview' } }), { overview: (r) => r.status === 200 });
  });
  group('issues', () => {
    const page = 1 + Math.floor(Math.random() * 10);
    const list = http.get(`${base}/projects/harbour/issues?set_filter=1&page=${page}`, { tags: { name: 'issues' } });
    check(list, { 'has issues': (r) => r.body.includes('is stuck') });
    http.get(`${base}/issues/${1 + Math.floor(Math.random() * 300)}`, { tags: { name: 'issue' } });
  });
}
