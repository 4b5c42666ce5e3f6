// Arrivals that find no VU: with as few VUs as this most of them are dropped, as the threshold on them asks.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: { rush: { executor: 'constant-arrival-rate', rate: 205, timeUnit: '10s', duration: '1s', preAllocatedVUs: 2, maxVUs: 2 } },
  thresholds: { dropped_iterations: ['count > 10'] },
};

export default function () {
  check(http.get(`${__ENV.URL}/wait/530`), { served: (r) => r.status === 200 });
}
