// Dashboards on a wall: each asks for the panels of a row.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    dashboards: {
      executor: 'constant-arrival-rate',
      rate: 5,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 1000,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<1000'] },
};

const base = __ENV.BASE_URL, began = Number(__ENV.BEGAN);
const panels = [
  'sum by (status) (rate(requests_total[5m]))',
  'topk(5, sum by (instance) (rate(requests_total[5m])))',
  'sum(rate(requests_total{status=~"5.."}[5m])) / sum(rate(requests_total[5m]))',
];

export default function () {
  const start = began + 600 + Math.floor(Math.random() * 3600);
  for (const query of panels) {
    const url = `${base}/api/v1/query_range?query=${encodeURIComponent(query)}&start=${start}&end=${start + 3600}&step=30`;
    const answer = http.get(url, { tags: { name: query } });
    check(answer, { success: (r) => r.status === 200 && r.json('status') === 'success' });
  }
}
