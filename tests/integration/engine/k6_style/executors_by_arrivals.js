// Arrivals by plan, at a constant and at a ramping rate.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    steady: { executor: 'constant-arrival-rate', rate: 405, timeUnit: '10s', duration: '1s', preAllocatedVUs: 20 },
    ramp: {
      executor: 'ramping-arrival-rate', startRate: 20, timeUnit: '1s', preAllocatedVUs: 20, startTime: '200ms',
      stages: [{ duration: '500ms', target: 20 }, { duration: '500ms', target: 60 }],
    },
  },
  thresholds: { dropped_iterations: ['count == 0'] },
};

export default function () {
  check(http.get(`${__ENV.URL}/wait/20`), { served: (r) => r.status === 200 });
}
