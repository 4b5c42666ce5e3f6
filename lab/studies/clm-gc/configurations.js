// Load on the configurations (`plimsoll lab configurations`), after the report on IBM's CLM 6.0: its three workloads, use case by
// use case; one iteration is one use case, and pauses are the workload's think times. k6-compatible.
//
//   BASE_URL      the address of the whole; /rootservices says the rest    http://127.0.0.1:8760
//   URL_OF_…      another one: with FORM=each, the one of URL_OF_EACH
//   USERS_JSON    usernames and passwords; the configurations write it     ./users.json
//   LDX_URL       the link index, for reindex                              http://127.0.0.1:8770
//   PAGE          artifacts that a list has                                25
//   USERS, DURATION  without a study                                       1, 30m
import http from 'k6/http';
import { check } from 'k6';
import { SharedArray } from 'k6/data';
import { Counter } from 'k6/metrics';

const FORM = (__ENV.FORM || '').toUpperCase();
const BASE_URL = __ENV[`URL_OF_${FORM}`] || __ENV.BASE_URL || 'http://127.0.0.1:8760';
const LDX_URL = __ENV.LDX_URL || 'http://127.0.0.1:8770';
const PAGE = Number(__ENV.PAGE || 25);
const GETS_PER_SEARCH = 7;
const TOOLS = ['rm', 'qm', 'cm'];

const users = new SharedArray('users', () => JSON.parse(open(__ENV.USERS_JSON || './users.json')));
const links = new Counter('links_created');
let ownCase; // the test case that this VU saves again and again

export const options = {
  vus: Number(__ENV.USERS || 1),
  duration: __ENV.DURATION || '30m',
  thresholds: { http_req_failed: ['rate<0.01'] },
};

/** Where the services are, and the global streams that users work in: the leaves of the hierarchy. */
export function setup() {
  const at = http.get(`${BASE_URL}/rootservices`, { tags: { name: 'GET /rootservices' } }).json();
  const token = logIn(at, users[0]);
  const streams = [];
  for (let offset = 0; offset < 2000; offset += 200) {
    const path = `/gc/configurations?kind=stream&limit=200&offset=${offset}`;
    const page = ask(at, token, 'gc', path, 'GET /gc/configurations').json();
    streams.push(...page.members.filter((one) => one.component % 10 !== 0));
    if (offset + 200 >= page.total) break;
  }
  at.ldx = LDX_URL;
  return { at, streams: streams.map((one) => ({ id: one.id, component: one.component, word: one.title.split(' ')[0] })) };
}

// --- the web UI of gc: 70 % reads, 30 % writes -------------------------------------------------------------------------------

/** The first 25 global components. */
export function listComponents(data) {
  get(data, 'gc', '/gc/components?limit=25', 'GET /gc/components');
}

/** A global stream, a component and a baseline are searched for, in that order. */
export function quickSearch(data) {
  const word = encodeURIComponent(anyOf(data.streams).word);
  get(data, 'gc', `/gc/configurations?kind=stream&query=${word}`, 'GET /gc/configurations');
  get(data, 'gc', `/gc/components?query=${word}`, 'GET /gc/components');
  get(data, 'gc', `/gc/configurations?kind=baseline&query=${word}`, 'GET /gc/configurations');
}

/** A component is searched for, and its details are opened. */
export function selectComponent(data) {
  const wanted = anyOf(data.streams);
  get(data, 'gc', `/gc/components?query=${encodeURIComponent(wanted.word)}`, 'GET /gc/components');
  get(data, 'gc', `/gc/components/${wanted.component}`, 'GET /gc/components/{id}');
  get(data, 'gc', `/gc/configurations?component=${wanted.component}`, 'GET /gc/configurations');
}

/** A staging area is made of a stream, its contributions are replaced by baselines of the tools, and it is committed. */
export function createBaseline(data) {
  const component = anyOf(data.streams).component;
  const from = firstOf(get(data, 'gc', `/gc/configurations?component=${component}&kind=stream`, 'GET /gc/configurations'));
  if (!from) return;
  const made = send(data, 'POST', 'gc', '/gc/configurations', 'POST /gc/configurations', 201,
    { kind: 'staging', from: from.id, title: `${from.title} baseline ${stamp()}` });
  if (!made || !replaceContributions(data, made, component, 'baseline')) return;
  send(data, 'POST', 'gc', `/gc/configuration/${made.id}/commit`, 'POST /gc/configuration/{id}/commit', 200);
}

/** A stream is made of a baseline, and its contributions are replaced by streams of the tools. */
export function createStream(data) {
  const component = anyOf(data.streams).component;
  const from = firstOf(get(data, 'gc', `/gc/configurations?component=${component}&kind=baseline`, 'GET /gc/configurations'));
  if (!from) return;
  const made = send(data, 'POST', 'gc', '/gc/configurations', 'POST /gc/configurations', 201,
    { kind: 'stream', from: from.id, title: `${from.title} stream ${stamp()}` });
  if (made) replaceContributions(data, made, component, 'stream');
}

/** Each tool is asked for a random stream or baseline of the component's project, which then contributes. */
function replaceContributions(data, configuration, component, kind) {
  for (const tool of TOOLS) {
    const path = `/${tool}/configurations?project=${component}&kind=${kind}`;
    const found = membersOf(get(data, tool, path, `GET /${tool}/configurations`));
    const place = configuration.contributions.find((one) => one.service === tool);
    if (!found.length || !place) return false;
    const changed = send(data, 'PUT', 'gc', `/gc/configuration/${configuration.id}/contributions/${place.position}`,
      'PUT /gc/configuration/{id}/contributions', 200, { service: tool, configuration: anyOf(found).id });
    if (!changed) return false;
  }
  return true;
}

// --- the stress through the proxies: 7 GETs a search -------------------------------------------------------------------------

export function requirementsProxy(data) {
  throughProxy(data, 'rm', GETS_PER_SEARCH);
}

export function testsProxy(data) {
  throughProxy(data, 'qm', GETS_PER_SEARCH);
}

/** A search for global configurations through a tool's proxy, then so many of them resolved, each by a request. */
function throughProxy(data, tool, gets) {
  const word = encodeURIComponent(anyOf(data.streams).word);
  const search = `/${tool}/proxy/gc/configurations?query=${word}`;
  const members = membersOf(get(data, tool, search, `GET /${tool}/proxy/gc/configurations`));
  for (let done = 0; done < gets && members.length; done += 1) {
    const path = `/${tool}/proxy/gc/configuration/${anyOf(members).id}`;
    get(data, tool, path, `GET /${tool}/proxy/gc/configuration/{id}`);
  }
}

// --- the integration: 31 % each of three kinds of links, 7 % selecting a configuration ---------------------------------------

export function linkDefectToRequirement(data) {
  linkNew(data, 'cm', 'rm', 'implements');
}

export function linkDefectToTest(data) {
  linkNew(data, 'cm', 'qm', 'tested_by');
}

export function linkTestToRequirement(data) {
  linkNew(data, 'qm', 'rm', 'validates');
}

/** A search for a global stream and its resolution, from a tool's page for selecting one. */
export function selectConfiguration(data) {
  throughProxy(data, Math.random() < 0.5 ? 'qm' : 'rm', 1);
}

/** A new artifact is saved, another one that it is to point at is created, and the first is saved again with the link. */
function linkNew(data, tool, other, type) {
  const context = anyOf(data.streams).id;
  const first = create(data, tool, context);
  const second = first && create(data, other, context);
  if (!second) return;
  const target = `${data.at[other]}/${other}/artifacts/${second.id}`;
  const saved = send(data, 'PUT', tool, `/${tool}/artifacts/${first.id}?context=${context}`, `PUT /${tool}/artifacts/{id}`, 200,
    { links: [{ type, target }] });
  if (saved) links.add(1, { of: `${tool}-${other}` });
}

function create(data, tool, context) {
  const body = { title: `Invented ${tool} ${stamp()}`, description: 'What a user would write into the form. '.repeat(5).trim() };
  return send(data, 'POST', tool, `/${tool}/artifacts?context=${context}`, `POST /${tool}/artifacts`, 201, body);
}

// --- one thing alone ---------------------------------------------------------------------------------------------------------

/** A new requirement. */
export function createRequirement(data) {
  create(data, 'rm', anyOf(data.streams).id);
}

/** The user's own test case, which points at a requirement, is saved once more: no new link, one more version. */
export function saveAgain(data) {
  ownCase = ownCase || ownTest(data);
  if (!ownCase) return;
  const path = `/qm/artifacts/${ownCase.id}?context=${ownCase.context}`;
  send(data, 'PUT', 'qm', path, 'PUT /qm/artifacts/{id}', 200, { title: `Saved ${stamp()}`, links: ownCase.links });
}

function ownTest(data) {
  const context = anyOf(data.streams).id;
  const test = create(data, 'qm', context);
  const requirement = test && create(data, 'rm', context);
  if (!requirement) return undefined;
  return { context, id: test.id, links: [{ type: 'validates', target: `${data.at.rm}/rm/artifacts/${requirement.id}` }] };
}

/** A page of the requirements of a global configuration. */
export function listRequirements(data) {
  get(data, 'rm', `/rm/artifacts?context=${anyOf(data.streams).id}&limit=${PAGE}`, 'GET /rm/artifacts');
}

/** The first iteration has the link index read every source from its base again; the others look at its status. */
export function reindex(data) {
  if (__ITER === 0) send(data, 'POST', 'ldx', '/ldx/reindex', 'POST /ldx/reindex', 202);
  else get(data, 'ldx', '/ldx/status', 'GET /ldx/status');
}

export default quickSearch;

// --- requests ----------------------------------------------------------------------------------------------------------------

let token = null;

function logIn(at, user) {
  const headers = { 'Content-Type': 'application/json' };
  const body = JSON.stringify({ username: user.username, password: user.password });
  const answer = http.post(`${at.jts}/jts/login`, body, { headers, tags: { name: 'POST /jts/login' } });
  return answer.status === 201 ? answer.json('token') : null;
}

function own(data) {
  if (token === null) token = logIn(data.at, users[(__VU - 1) % users.length]);
  return token;
}

function get(data, service, path, name) {
  return ask(data.at, own(data), service, path, name);
}

function ask(at, bearer, service, path, name) {
  const response = http.get(at[service] + path, { headers: { Authorization: `Bearer ${bearer}` }, tags: { name } });
  check(response, { 'status is 200': (answer) => answer.status === 200 });
  return response;
}

/** The answer's JSON, or null if it was not the status wanted. */
function send(data, method, service, path, name, status, body) {
  const headers = { Authorization: `Bearer ${own(data)}`, 'Content-Type': 'application/json' };
  const text = body === undefined ? null : JSON.stringify(body);
  const response = http.request(method, data.at[service] + path, text, { headers, tags: { name } });
  const good = check(response, { 'status is as wanted': (answer) => answer.status === status });
  return good ? response.json() : null;
}

function firstOf(response) {
  return membersOf(response)[0];
}

/** What the page of a list holds; nothing if the request failed. */
function membersOf(response) {
  return response.status === 200 ? response.json('members') : [];
}

function anyOf(list) {
  return list[Math.floor(Math.random() * list.length)];
}

function stamp() {
  return `${__VU} ${__ITER}`;
}
