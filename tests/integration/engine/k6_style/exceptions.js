// Iterations that fail: the run goes on, and what they measured counts.
import http from 'k6/http';
import { check, fail } from 'k6';

export const options = { vus: 1, iterations: 9, thresholds: { checks: ['rate == 1'] } };

export default function () {
  check(http.get(`${__ENV.URL}/echo`), { 'before the failure': (r) => r.status === 200 });
  if (__ITER % 3 === 1) {
    fail('this one stops here');
  }
  if (__ITER % 3 === 2) {
    undefined.property;
  }
  check(1, { 'after it': true });
}
