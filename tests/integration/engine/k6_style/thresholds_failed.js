// exit: 99
// One threshold of three is not kept, so the run ends with the code that says so.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  iterations: 8,
  thresholds: { checks: ['rate > 0.1'], http_req_failed: ['rate < 0.5'], http_req_duration: ['p(90) < 10', 'max < 60000'] },
};

export default function () {
  check(http.get(`${__ENV.URL}/wait/30`), { served: (r) => r.status === 200 });
}
