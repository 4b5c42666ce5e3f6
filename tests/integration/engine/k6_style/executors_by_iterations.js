// Scenarios that count iterations: shared by VUs, and a number for each.
import http from 'k6/http';
import exec from 'k6/execution';
import { check } from 'k6';

export const options = {
  scenarios: {
    together: { executor: 'shared-iterations', vus: 3, iterations: 14, exec: 'draw', env: { TURN: 'together' } },
    each: { executor: 'per-vu-iterations', vus: 4, iterations: 3, startTime: '300ms', exec: 'draw', env: { TURN: 'each' } },
    late: { executor: 'per-vu-iterations', vus: 1, iterations: 2, startTime: '600ms', exec: 'count' },
  },
  thresholds: { 'iterations{scenario:together}': ['count == 14'], 'iterations{scenario:each}': ['count == 12'] },
};

export function draw() {
  const response = http.get(`${__ENV.URL}/wait/10?turn=${__ENV.TURN}`);
  check(response, {
    'a scenario has its environment': (r) => r.json('target').endsWith(`turn=${exec.scenario.name}`),
    'and its executor': () => exec.scenario.executor === (exec.scenario.name === 'each' ? 'per-vu-iterations' : 'shared-iterations'),
  });
}

export function count() {
  check(exec.scenario, { 'iterations are counted from 0': (s) => s.iterationInTest < 2 && exec.vu.iterationInScenario === s.iterationInTest });
}
