// The three scripts of the Kiwi TCMS report as one, k6-compatible: the same work whole, by the ORM alone, and static.
// They run against `plimsoll lab testcases` and against Kiwi TCMS itself (real.py).
//
//   BASE_URL      where it answers                           http://127.0.0.1:8713
//   KIWI_USER     login                                      tester1
//   KIWI_PASSWORD password; without it, that user's in USERS_JSON
//   USERS_JSON    the lab's logins                           .lab/users.json beside this script
//   R             cases and runs of one iteration            5: 10 + 3R + 2R² = 75 calls, R² = 25 results
//   READ          work() reads instead: TestCase.filter or TestRun.filter
//   SIZE          rows that reading asks for                 1000
//   STATIC        static variant: the method that answers    Static.answer; KiwiTCMS.version is the author's
import http from 'k6/http';
import { check, fail } from 'k6';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8713';
const R = Number(__ENV.R || 5);
const READ = __ENV.READ || '';
const SIZE = Number(__ENV.SIZE || 1000);
const STATIC = __ENV.STATIC || 'Static.answer';
const USERNAME = __ENV.KIWI_USER || 'tester1';
const PASSWORD = __ENV.KIWI_PASSWORD || passwordOf(USERNAME);

// Used by `k6 run` and `plimsoll run`; a study file brings its own workload.
export const options = { scenarios: { work: { executor: 'per-vu-iterations', vus: 1, iterations: 1, exec: 'work' } } };

/** One login for the whole run, as the author's client does it; a session serves any number of VUs. */
export function setup() {
  const answer = rpc(null, 'Auth.login', [USERNAME, PASSWORD]);
  if (!answer) fail(`no login as ${USERNAME} at ${BASE_URL}`);
  return { session: answer };
}

/** What a sweep varies: R, or with READ the number of rows read. */
export function work(data) {
  if (READ === '') whole(data);
  else read(data, READ);
}

/** perf-script-ng: a product with version, build and plan; R cases; R runs with all of them; a result for each. */
export function whole(data) {
  perform((method, params) => rpc(data.session, method, params));
}

/** perf-script-static: as many calls of the same sizes, none of which reads or writes the database for its answer. */
export function fixed(data) {
  const params = (method) => (STATIC === 'Static.answer' ? [method] : []);
  const call = (method) => rpc(data.session, STATIC, params(method), `${STATIC} (${method})`);
  for (const method of FIRST) call(method);
  for (let number = 0; number < R; number += 1) for (const method of A_CASE) call(method);
  for (let number = 0; number < R; number += 1) {
    call('TestRun.create');
    for (let other = 0; other < R; other += 1) for (const method of A_RESULT) call(method);
  }
}

/** perf-script-orm: the same statements by one plain request. */
export function orm(data) {
  const answer = http.post(`${BASE_URL}/orm/work?size=${R}`, null, parameters(data.session, 'orm', '600s'));
  check(answer, { 'the ORM did the work': (one) => one.status === 200 && one.json('calls') === 10 + 3 * R + 2 * R * R });
}

/** The search page of test cases. */
export function readCases(data) {
  read(data, 'TestCase.filter');
}

/** The search page of test runs. */
export function readRuns(data) {
  read(data, 'TestRun.filter');
}

const FIRST = [
  'User.filter',
  'Classification.filter',
  'Product.create',
  'Version.create',
  'TestPlan.create',
  'Priority.filter',
  'Category.filter',
  'TestCaseStatus.filter',
  'TestExecutionStatus.filter',
  'Build.create',
];
const A_CASE = ['TestCase.create', 'TestPlan.add_case'];
const A_RESULT = ['TestRun.add_case', 'TestExecution.update'];

function perform(call) {
  const mark = `${Date.now()}-${__VU}-${__ITER}-${Math.floor(Math.random() * 1e9)}`;
  const user = call('User.filter', [{ username: USERNAME }])[0].id;
  const classification = call('Classification.filter', [{}])[0].id;
  const product = call('Product.create', [{ name: `Product ${mark}`, classification }]).id;
  const version = call('Version.create', [{ value: `ver-${mark}`, product }]).id;
  const plan = call('TestPlan.create', [{
    name: `TP: ${mark}`,
    text: 'Created by a load script',
    type: 7, // performance, in the lab and in Kiwi TCMS
    product,
    product_version: version,
    is_active: true,
  }]).id;
  const priority = call('Priority.filter', [{}])[0].id;
  const category = call('Category.filter', [{ product }])[0].id;
  const confirmed = call('TestCaseStatus.filter', [{ is_confirmed: true }])[0].id;
  const cases = [];
  for (let number = 0; number < R; number += 1) {
    const summary = `Case ${number} of ${mark}`;
    const values = { summary, product, category, priority, case_status: confirmed };
    const made = call('TestCase.create', [values]).id;
    cases.push(made);
    call('TestPlan.add_case', [plan, made]);
  }
  const passed = call('TestExecutionStatus.filter', [{ weight__gt: 0 }])[0].id;
  const build = call('Build.create', [{ name: `b.${mark}`, version }]).id;
  for (let number = 0; number < R; number += 1) {
    const run = call('TestRun.create', [{ summary: `TR ${number} ${mark}`, manager: user, plan, build }]).id;
    for (const one of cases) {
      for (const execution of call('TestRun.add_case', [run, one])) {
        call('TestExecution.update', [execution.id, { status: passed }]);
      }
    }
  }
}

function read(data, method) {
  const rows = rpc(data.session, method, [{ pk__lte: SIZE }]);
  check(rows, { 'all rows came': (answer) => answer.length === SIZE });
}

function rpc(session, method, params, name) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = http.post(`${BASE_URL}/json-rpc/`, body, parameters(session, name || method, '60s'));
  const result = answer.status === 200 ? answer.json('result') : undefined;
  check(result, { 'the call was answered': (value) => value !== undefined && value !== null });
  if (result === undefined || result === null) fail(`${method}: ${answer.status} ${String(answer.body).slice(0, 200)}`);
  return result;
}

function parameters(session, name, timeout) {
  const headers = { 'Content-Type': 'application/json' };
  if (session) headers.Cookie = `sessionid=${session}`;
  return { headers, tags: { name }, timeout };
}

function passwordOf(username) {
  const users = JSON.parse(open(__ENV.USERS_JSON || './.lab/users.json'));
  return users.find((user) => user.username === username).password;
}
