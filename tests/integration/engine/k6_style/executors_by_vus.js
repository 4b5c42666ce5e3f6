// VUs for a time, constant and ramping; a fixed pace makes the number of iterations known.
import http from 'k6/http';
import { check, sleep } from 'k6';

export const options = {
  scenarios: {
    steady: { executor: 'constant-vus', vus: 3, duration: '1050ms', gracefulStop: '2s' },
    ramp: { executor: 'ramping-vus', startVUs: 2, stages: [{ duration: '1050ms', target: 2 }], gracefulRampDown: '2s', startTime: '100ms', exec: 'ramp' },
  },
  minIterationDuration: '500ms',
};

export default function () {
  check(http.get(`${__ENV.URL}/wait/20`), { steady: (r) => r.status === 200 });
}

export function ramp() {
  check(http.get(`${__ENV.URL}/wait/20`), { ramp: (r) => r.status === 200 });
  sleep(0.1);
}
