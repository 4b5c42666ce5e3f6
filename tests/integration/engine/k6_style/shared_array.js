// Rows read once for all VUs, and each VU's own.
import http from 'k6/http';
import exec from 'k6/execution';
import { SharedArray } from 'k6/data';
import { check } from 'k6';

const birds = new SharedArray('birds', () =>
  open('./data/birds.csv').trim().split('\n').slice(1).map((line) => {
    const [bird, grams] = line.split(',');
    return { bird, grams: Number(grams) };
  }));

export const options = { scenarios: { feed: { executor: 'shared-iterations', vus: 3, iterations: 9 } } };

export default function () {
  const row = birds[exec.scenario.iterationInTest % birds.length];
  const response = http.post(`${__ENV.URL}/echo`, JSON.stringify(row));
  check(response, {
    'a row is an object': (r) => JSON.parse(r.json('body')).grams === row.grams,
    'all rows are there': () => birds.length === 3 && birds.map((b) => b.bird).join() === 'wren,robin,heron',
    'nobody can change a row': () => { try { row.grams = 0; } catch (error) { return error instanceof TypeError; } return false; },
  });
}
