// A social site: read a profile, count the view, who do we both follow, and who is popular.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    readers: {
      executor: 'constant-arrival-rate',
      rate: 50,
      timeUnit: '1s',
      duration: '30s',
      preAllocatedVUs: 50,
      maxVUs: 2000,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<100'] },
};

const base = __ENV.BASE_URL;

export default function () {
  const page = Math.floor(Math.random() * 5000);
  const member = page % 200;
  const first = http.get(`${base}/GET/page:${page}`, { tags: { name: 'profile' } });
  check(first, { 'profile is there': (r) => r.status === 200 });
  http.get(`${base}/ZINCRBY/ranking/1/member:${page}`, { tags: { name: 'count the view' } });
  for (let friend = 1; friend <= 5; friend++) {
    http.get(`${base}/SINTERCARD/2/follows:${member}/follows:${(member + friend * 5) % 200}`, { tags: { name: 'in common' } });
  }
  http.get(`${base}/ZREVRANGE/ranking/0/49/WITHSCORES`, { tags: { name: 'popular' } });
}
