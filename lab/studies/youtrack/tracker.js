// Load on the issue tracker (`plimsoll lab tracker`), after the YouTrack report: four things a user does, each the
// requests that the report lists under "Resulting scenarios". k6-compatible; no think time, as arrivals set the pace.
//
//   BASE_URL     where the tracker answers              http://127.0.0.1:8710
//   USERS_JSON   logins and tokens; the tracker writes it: users.json beside this script, or a path
//   ISSUES       the seeded issues are DEMO-1 … DEMO-N  20000
//   PROJECT      id of the project that YouTrack itself wants with each new issue, as 0-0; the tracker has one
//   USERS        how many users, without a study        100
//   DURATION     for how long, without a study          5m
import http from 'k6/http';
import { check } from 'k6';
import { SharedArray } from 'k6/data';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8710';
const ISSUES = Number(__ENV.ISSUES || 20000);
const USERS = Number(__ENV.USERS || 100);
const DURATION = __ENV.DURATION || '5m';
const PAGE = 100;
const IN_PROJECT = __ENV.PROJECT ? { project: { id: __ENV.PROJECT } } : {};

const STATES = ['Submitted', 'Open', 'In Progress', 'Fixed', 'Verified'];
const PRIORITIES = ['Critical', 'Major', 'Normal', 'Minor'];

const users = new SharedArray('users', () => JSON.parse(open(__ENV.USERS_JSON || './users.json')));
const words = new SharedArray('words', () => JSON.parse(open('./words.json')));

// Used by `k6 run` and `plimsoll run`; a study file brings its own workload and objectives.
export const options = {
  scenarios: {
    create_issue: perUserHour(1, 'createIssue'),
    update_issue: perUserHour(9, 'updateIssue'),
    view_issue: perUserHour(30, 'viewIssue'),
    search_issues: perUserHour(10, 'searchIssues'),
  },
  thresholds: {
    http_req_failed: ['rate<0.01'],
    'http_req_duration{method:GET}': ['p(90)<500'],
    'http_req_duration{method:POST}': ['p(90)<1000'],
  },
};

/** Draft, fill in, publish. */
export function createIssue() {
  const user = anyOf(users);
  const draft = post(user, '/api/users/me/drafts', IN_PROJECT, 'POST /users/me/drafts');
  const id = draft.status === 200 ? draft.json('id') : null;
  if (id === null) return;
  const text = { summary: someWords(4, 10), description: someWords(12, 34) };
  post(user, `/api/users/me/drafts/${id}`, text, 'POST /users/me/drafts/<id>');
  post(user, `/api/issues?draftId=${id}`, {}, 'POST /issues');
}

/** One request that creates an issue, as scripts do: for loading many issues (the report's first task). */
export function uploadIssue() {
  const text = { summary: someWords(4, 10), description: someWords(12, 34), ...IN_PROJECT };
  post(anyOf(users), '/api/issues', text, 'POST /issues');
}

/** A command on one issue: the page asks what it would do, then applies it. */
export function updateIssue() {
  const user = anyOf(users);
  const command = { query: someCommand(), issues: [{ id: someIssue() }] };
  post(user, '/api/commands/assist', { ...command, caret: command.query.length }, 'POST /commands/assist');
  post(user, '/api/commands', command, 'POST /commands');
}

/** The page of all issues, then one issue. */
export function viewIssue() {
  const user = anyOf(users);
  const page = get(user, `/api/sortedIssues?topRoot=${PAGE}&query=`, 'GET /sortedIssues');
  post(user, '/api/issuesGetter/count', { query: '' }, 'POST /issuesGetter/count');
  getIssues(user, page);
  get(user, `/api/issues/${someIssue()}`, 'GET /issues');
}

/** A search by words, or by an attribute, or both. */
export function searchIssues() {
  const user = anyOf(users);
  const query = someSearch();
  post(user, '/api/search/assist', { query, caret: query.length }, 'POST /search/assist');
  const path = `/api/sortedIssues?topRoot=${PAGE}&query=${encodeURIComponent(query)}`;
  getIssues(user, get(user, path, 'GET /sortedIssues?query='));
}

// What the frame of every page asks: the report's "minor" calls. Do they matter? lab/studies/youtrack/minor.yaml

export function readFolders() {
  get(anyOf(users), '/api/inbox/folders?$top=-1&fields=id,lastNotified,lastSeen,enabled', 'GET /inbox/folders');
}

export function readPermissions() {
  get(anyOf(users), '/api/permissions/cache?fields=global,permission(key),projects(id)', 'GET /permissions/cache');
}

export function readFilterValues() {
  get(anyOf(users), '/api/filterFields/project/values?$top=-1&prefix=&type=Issue', 'GET /filterFields/project/values');
}

export function readWidgets() {
  get(anyOf(users), '/api/admin/widgets/general?fields=id,key,name,collapsed', 'GET /admin/widgets/general');
}

function getIssues(user, page) {
  const tree = page.status === 200 ? page.json('tree') : [];
  if (tree.length > 0) post(user, '/api/issuesGetter', tree, 'POST /issuesGetter');
}

function get(user, path, name) {
  return succeeded(http.get(BASE_URL + path, parameters(user, name)));
}

function post(user, path, body, name) {
  return succeeded(http.post(BASE_URL + path, JSON.stringify(body), parameters(user, name)));
}

function parameters(user, name) {
  return {
    headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'application/json' },
    tags: { name },
  };
}

function succeeded(response) {
  check(response, { 'status is 200': (answer) => answer.status === 200 });
  return response;
}

function someCommand() {
  const kind = Math.random();
  if (kind < 0.4) return `state ${anyOf(STATES)}`;
  if (kind < 0.6) return `priority ${anyOf(PRIORITIES)}`;
  if (kind < 0.8) return `assignee ${anyOf(users).login}`;
  return `comment ${someWords(4, 20)}`;
}

function someSearch() {
  const kind = Math.random();
  if (kind < 0.5) return anyOf(words);
  if (kind < 0.7) return someWords(2, 2);
  if (kind < 0.85) return `assignee: ${anyOf(users).login}`;
  return `${anyOf(words)} #Unresolved`;
}

function someIssue() {
  return `DEMO-${1 + Math.floor(Math.random() * ISSUES)}`;
}

function someWords(fewest, most) {
  const count = fewest + Math.floor(Math.random() * (most - fewest + 1));
  return Array.from({ length: count }, () => anyOf(words)).join(' ');
}

function anyOf(list) {
  return list[Math.floor(Math.random() * list.length)];
}

// Rates are per hour, so that 1 a user and hour is not rounded to a whole number a minute.
function perUserHour(rate, exec) {
  return {
    executor: 'constant-arrival-rate',
    rate: rate * USERS,
    timeUnit: '1h',
    duration: DURATION,
    preAllocatedVUs: 10,
    maxVUs: 100,
    exec,
  };
}
