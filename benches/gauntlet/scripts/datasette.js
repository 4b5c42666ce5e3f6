// Readers of published data: the front page, a town's houses, one house, and now and then a chart's query.
import http from 'k6/http';
import { check, group } from 'k6';

export const options = {
  scenarios: {
    readers: {
      executor: 'constant-arrival-rate',
      rate: 5,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 1000,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<1000'] },
};

const base = __ENV.BASE_URL;

export default function () {
  const town = Math.floor(Math.random() * 400);
  group('browse', () => {
    check(http.get(`${base}/sales`, { tags: { name: '/sales' } }), { 'front page': (r) => r.status === 200 });
    const list = http.get(`${base}/sales/houses.json?town__exact=${town}&_size=20&_shape=objects`, { tags: { name: 'houses of a town' } });
    check(list, { 'has houses': (r) => r.json('rows').length > 0 });
    const house = list.json('rows')[0].id;
    http.get(`${base}/sales/houses/${house}`, { tags: { name: 'house' } });
  });
  if (Math.random() < 0.25) {
    const sql = 'select substr(sold, 1, 4) as year, avg(price) from houses where town = :town group by year';
    const chart = http.get(`${base}/sales.json?sql=${encodeURIComponent(sql)}&town=${town}&_shape=array`, { tags: { name: 'chart' } });
    check(chart, { 'years': (r) => r.json().length > 0 });
  }
}
