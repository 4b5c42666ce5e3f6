// Rows of a table, all at once and one at a time.
import http from 'k6/http';
import { open as openFile } from 'k6/experimental/fs';
import csv from 'k6/experimental/csv';
import { check } from 'k6';

export const options = { vus: 1, iterations: 3 };

const rows = await csv.parse(await openFile('./data/birds.csv'), { skipFirstLine: true });
const parser = new csv.Parser(await openFile('./data/birds.csv'), { skipFirstLine: true });

export default async function () {
  check(rows, {
    'all rows are there': (all) => all.length === 3,
    'a row is a list of texts': (all) => all[2][0] === 'heron' && all[2][1] === '1700',
  });
  const { done, value } = await parser.next();
  check(value, { 'one row an iteration': (row) => !done && row[0] === rows[__ITER][0] });
  check(http.post(`${__ENV.URL}/echo`, value.join(';')), { 'a row is sent': (r) => r.json('body') === rows[__ITER].join(';') });
}
