// Load on the inventory (`plimsoll lab inventory`), after the FOLIO report: what a librarian's browser asks to save the ids of
// all instances that a search finds. k6-compatible.
//
//   BASE_URL        where the gateway answers                       http://127.0.0.1:8720
//   FORM            another inventory: with FORM=fixed, the one of  URL_OF_FIXED
//   SIZE            instances that a search should find             2000
//   USERS_JSON      usernames and passwords, KEYWORDS_JSON: words with their hits; the inventory writes both
//   TENANT          whose inventory it is                           lab
//   USERS           how many users, without a study                 1
//   DURATION        for how long, without a study                   30m
import http from 'k6/http';
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import { Trend } from 'k6/metrics';

const FORM = (__ENV.FORM || '').toUpperCase();
const BASE_URL = __ENV[`URL_OF_${FORM}`] || __ENV.BASE_URL || 'http://127.0.0.1:8720';
const SIZE = Number(__ENV.SIZE || 2000);
const TENANT = __ENV.TENANT || 'lab';
const PAGE = 100;
// What the report's page loads before a search.
const REFERENCE_DATA = [
  'instance-types', 'instance-statuses', 'modes-of-issuance', 'contributor-name-types', 'identifier-types',
  'instance-formats', 'locations',
];

const users = new SharedArray('users', () => JSON.parse(open(__ENV.USERS_JSON || './users.json')));
// The three words whose hits are nearest to SIZE.
const keywords = new SharedArray('keywords', () => {
  const all = JSON.parse(open(__ENV.KEYWORDS_JSON || './keywords.json'));
  return all.sort((a, b) => Math.abs(a.hits - SIZE) - Math.abs(b.hits - SIZE)).slice(0, 3);
});
const exported = new Trend('exported_ids');

export const options = {
  vus: Number(__ENV.USERS || 1),
  duration: __ENV.DURATION || '30m',
  thresholds: { http_req_failed: ['rate<0.01'] },
};

let token = null;

/** Log in once, then: reference data, first page of the search, ids of all that it finds. */
export function exportIds() {
  if (token === null && !logIn()) return;
  for (const kind of REFERENCE_DATA) get(`/${kind}?limit=200`, `GET /${kind}`);
  const query = encodeURIComponent(`keyword all "${anyOf(keywords).keyword}" sortby title`);
  const page = get(`/inventory/instances?limit=${PAGE}&offset=0&query=${query}`, 'GET /inventory/instances');
  const answer = get(`/instance-bulk/ids?query=${query}`, 'GET /instance-bulk/ids');
  if (page.status !== 200 || answer.status !== 200) return;
  const found = answer.json('totalRecords');
  check(answer, { 'as many ids as the search found': () => found === page.json('totalRecords') });
  exported.add(found);
}

/** The search alone. */
export function search() {
  if (token === null && !logIn()) return;
  const query = encodeURIComponent(`keyword all "${anyOf(keywords).keyword}" sortby title`);
  get(`/inventory/instances?limit=${PAGE}&offset=0&query=${query}`, 'GET /inventory/instances');
}

export default exportIds;

function logIn() {
  const user = users[(__VU - 1) % users.length];
  const headers = { 'Content-Type': 'application/json', 'X-Okapi-Tenant': TENANT };
  const body = JSON.stringify({ username: user.username, password: user.password });
  const answer = http.post(`${BASE_URL}/authn/login`, body, { headers, tags: { name: 'POST /authn/login' } });
  if (answer.status === 201) token = answer.json('okapiToken');
  return token !== null;
}

function get(path, name) {
  const headers = { 'X-Okapi-Tenant': TENANT, 'X-Okapi-Token': token };
  const response = http.get(BASE_URL + path, { headers, tags: { name } });
  check(response, { 'status is 200': (answer) => answer.status === 200 });
  return response;
}

function anyOf(list) {
  return list[Math.floor(Math.random() * list.length)];
}
