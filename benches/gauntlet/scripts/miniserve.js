// Colleagues look for a report in a shared folder, and one of fifty takes the whole folder.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    colleagues: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 30,
      maxVUs: 1500,
    },
  },
  discardResponseBodies: true,
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'] },
};

const base = __ENV.BASE_URL;
const compressed = { headers: { 'Accept-Encoding': 'gzip' } };

export default function () {
  const project = Math.floor(Math.random() * 20);
  const list = http.get(`${base}/project-${project}/?sort=date&order=desc`, { ...compressed, tags: { name: 'listing' } });
  check(list, { 'listing': (r) => r.status === 200 });
  const report = Math.floor(Math.random() * 150);
  http.get(`${base}/project-${project}/report-${report}.txt`, { ...compressed, tags: { name: 'report' } });
  if (Math.random() < 0.02) {
    http.get(`${base}/project-${project}/?download=tar_gz`, { tags: { name: 'whole folder' } });
  }
}
