// Readers of a site: the front page, an article, sometimes a search.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  scenarios: {
    readers: {
      executor: 'constant-arrival-rate',
      rate: 5,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 1000,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'] },
};

const base = __ENV.BASE_URL;

export default function () {
  const front = http.get(`${base}/`, { tags: { name: 'front page' } });
  check(front, { 'front page lists articles': (r) => r.status === 200 && r.body.includes('Article 3') });
  sleep(0.5);
  const article = http.get(`${base}/article-${Math.floor(Math.random() * 40)}/`, { tags: { name: 'article' } });
  check(article, { 'article has text': (r) => r.body.includes('harbour') });
  if (Math.random() < 0.1) http.get(`${base}/search/?query=harbour`, { tags: { name: 'search' } });
}
