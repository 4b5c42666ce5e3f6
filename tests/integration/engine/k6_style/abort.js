// exit: 108
// A script that ends its own run.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';

export const options = { vus: 1, iterations: 100 };

export default function () {
  check(http.get(`${__ENV.URL}/echo`), { served: (r) => r.status === 200 });
  if (__ITER === 4) {
    exec.test.abort('enough is known');
  }
}
