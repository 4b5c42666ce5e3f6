// The four kinds of metrics, with tags and with times.
import http from 'k6/http';
import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

export const options = {
  vus: 1,
  iterations: 50,
  thresholds: { 'errors{where:door}': ['count == 25'], 'waiting{step:first}': ['max < 60000'] },
  summaryTrendStats: ['avg', 'min', 'med', 'max', 'p(75)', 'p(95)', 'count'],
};

const errors = new Counter('errors');
const level = new Gauge('level');
const good = new Rate('good');
const waiting = new Trend('waiting', true);
const weight = new Trend('weight');

export default function () {
  const response = http.get(`${__ENV.URL}/wait/4`);
  errors.add(1, { where: __ITER % 2 ? 'door' : 'window' });
  errors.add(0.5);
  level.add(__ITER % 7);
  good.add(__ITER % 10 !== 0);
  good.add(1);
  waiting.add(response.timings.waiting, { step: 'first' });
  weight.add(100 + __ITER);
  check(waiting, { 'a metric knows its name': (m) => m.name === 'waiting' });
}
