// Thresholds of every kind of metric, on all samples and on some by their tags; all are kept.
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

const sold = new Counter('sold');
const stock = new Gauge('stock');
const returned = new Rate('returned');
const price = new Trend('price');

export const options = {
  vus: 1,
  iterations: 20,
  thresholds: {
    http_req_failed: ['rate == 0'],
    http_req_duration: ['p(95) < 5000', { threshold: 'max < 20000', abortOnFail: true, delayAbortEval: '1s' }],
    'http_req_duration{name:counter}': ['avg < 5000', 'med < 5000'],
    'http_reqs{name:counter}': ['count == 20'],
    checks: ['rate > 0.99'],
    sold: ['count >= 40'],
    stock: ['value < 100'],
    returned: ['rate <= 0.25'],
    price: ['min >= 1', 'max <= 20', 'p(50) < 12'],
    iterations: ['count == 20'],
  },
};

export default function () {
  const response = http.get(`${__ENV.URL}/wait/5`, { tags: { name: 'counter' } });
  check(response, { served: (r) => r.status === 200 });
  sold.add(2);
  stock.add(60 - __ITER);
  returned.add(__ITER % 4 === 0);
  price.add(__ITER + 1);
}
