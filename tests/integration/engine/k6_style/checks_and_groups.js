// Checks that pass, fail and mix, in groups within groups.
import http from 'k6/http';
import { check, group } from 'k6';

export const options = { vus: 2, iterations: 10, thresholds: { 'group_duration{group:::shop}': ['max < 60000'] } };

export default function () {
  const kept = group('shop', () => {
    const response = http.get(`${__ENV.URL}/wait/20`);
    check(response, { 'shop is open': (r) => r.status === 200 }, { area: 'front' });
    group('basket', () => {
      check(http.post(`${__ENV.URL}/echo`, '3 apples'), { 'basket takes apples': (r) => r.json('body') === '3 apples' });
    });
    return response.status;
  });
  const all = check(kept, { 'a group gives back what its function does': (status) => status === 200, 'a plain value': true });
  check(all, { 'check says whether all held': (held) => held === true });
  check(null, { 'every other one': () => __ITER % 2 === 0 || __ITER % 2 === 1 });
}
