// Tags of the run, of a scenario, of the VU, of a request, of a check and of a group: each makes a series to judge.
import http from 'k6/http';
import exec from 'k6/execution';
import { check, group } from 'k6';

export const options = {
  tags: { season: 'winter' },
  scenarios: { morning: { executor: 'per-vu-iterations', vus: 2, iterations: 5, tags: { shift: 'early' } } },
  thresholds: {
    'http_reqs{season:winter}': ['count == 20'],
    'http_reqs{shift:early}': ['count == 20'],
    'http_reqs{scenario:morning}': ['count == 20'],
    'http_reqs{method:POST}': ['count == 10'],
    'http_reqs{status:404}': ['count == 10'],
    'http_reqs{lane:slow}': ['count == 10'],
    'http_reqs{group:::inside}': ['count == 10'],
    'http_reqs{expected_response:false}': ['count == 10'],
    'checks{lane:slow}': ['rate == 1'],
    'checks{rank:high}': ['rate == 1'],
    'iterations{shift:early}': ['count == 10'],
  },
};

export default function () {
  group('inside', () => http.get(`${__ENV.URL}/status/404`));
  exec.vu.tags.lane = 'slow';
  const response = http.post(`${__ENV.URL}/echo`, 'x', { tags: { name: 'echo' } });
  check(response, { 'with the VU\'s tag': (r) => r.status === 200 });
  check(response, { 'with a tag of its own': true }, { rank: 'high' });
  delete exec.vu.tags.lane;
}
