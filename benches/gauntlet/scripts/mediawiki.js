// Readers of a wiki follow links; some search, some ask the API.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  scenarios: {
    readers: {
      executor: 'constant-arrival-rate',
      rate: 2,
      timeUnit: '1s',
      duration: '2m',
      preAllocatedVUs: 20,
      maxVUs: 800,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<1500'] },
};

const base = __ENV.BASE_URL;
const page = () => Math.floor(Math.random() * 60);

export default function () {
  const first = http.get(`${base}/index.php?title=Page_${page()}`, { tags: { name: 'page' } });
  check(first, { 'page is there': (r) => r.status === 200 && r.body.includes('Part 5') });
  sleep(0.3);
  http.get(`${base}/index.php?title=Page_${page()}`, { tags: { name: 'page' } });
  if (Math.random() < 0.2) http.get(`${base}/index.php?search=words&fulltext=1`, { tags: { name: 'search' } });
  if (Math.random() < 0.2) {
    const answer = http.get(`${base}/api.php?action=parse&page=Page_${page()}&format=json`, { tags: { name: 'api' } });
    check(answer, { parsed: (r) => r.status === 200 });
  }
}
