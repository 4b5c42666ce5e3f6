// A help desk: look at the open issues, open one, search.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    desk: {
      executor: 'constant-arrival-rate',
      rate: 4,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 600,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<1000'] },
};

const desk = `${__ENV.BASE_URL}/desk`;

export default function () {
  const columns = '@columns=title,id,activity,status&@sort=-activity&@group=priority&@filter=status&@pagesize=20';
  const list = http.get(`${desk}/issue?status=-1,1,2,3&${columns}`, { tags: { name: 'open issues' } });
  check(list, { 'has issues': (r) => r.status === 200 && r.body.includes('Printer') });
  const number = 1 + Math.floor(Math.random() * 400);
  http.get(`${desk}/issue${number}`, { tags: { name: 'issue' } });
  if (Math.random() < 0.2) {
    http.get(`${desk}/issue?@search_text=printer&${columns}`, { tags: { name: 'search' } });
  }
}
