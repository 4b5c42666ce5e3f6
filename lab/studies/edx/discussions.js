// Load on a discussion forum with Open edX's discussion API (`plimsoll lab discussions`), after the Open edX report: its
// ten calls, and before each change the reads that find an id, as its load test had them. k6-compatible.
//
//   BASE_URL       where the forum answers                              http://127.0.0.1:8730
//   PROFILE_IMAGE  1: reads ask for requested_fields=profile_image      0
//   COURSE         the course                                           course-v1:DemoX+Load1+2026
//   USERS_JSON     names and passwords (the forum writes users.json); without it the sessions come from /auto_auth
//   SESSIONS       users who log in before the load                     20
//   THREADS        the seeded threads are 1 to N                        1000
//   PAGES          lists are one of the first N pages, by number of comments   3
//   USERS          how many users, without a study                      48
//   DURATION       for how long, without a study                        1m
import http from 'k6/http';
import { check, fail } from 'k6';
import { Rate, Trend } from 'k6/metrics';

const BASE_URL = __ENV.BASE_URL || 'http://127.0.0.1:8730';
const API = `${BASE_URL}/api/discussion/v1`;
const COURSE = __ENV.COURSE || 'course-v1:DemoX+Load1+2026';
const SESSIONS = Number(__ENV.SESSIONS || 20);
const THREADS = Number(__ENV.THREADS || 1000);
const PAGES = Number(__ENV.PAGES || 3);
const USERS = Number(__ENV.USERS || 48);
const DURATION = __ENV.DURATION || '1m';
const PAGE_SIZE = 20;
const FIELDS = __ENV.PROFILE_IMAGE === '1' ? '&requested_fields=profile_image' : '';

const people = __ENV.USERS_JSON ? JSON.parse(open(__ENV.USERS_JSON)) : null;
const perRequest = new Trend('server_transactions_per_request');
const accountsShare = new Rate('accounts_calls_among_transactions');

// Used by `k6 run` and `plimsoll run`; a study file brings its own workload.
export const options = {
  scenarios: {
    view_threads: perUserHour(80, 'viewThreads'),
    view_thread: perUserHour(80, 'viewThread'),
    create_thread: perUserHour(20, 'createThread'),
    create_response: perUserHour(30, 'createResponse'),
    create_comment: perUserHour(30, 'createComment'),
    patch_thread: perUserHour(20, 'patchThread'),
    patch_comment: perUserHour(20, 'patchComment'),
    delete_thread: perUserHour(15, 'deleteThread'),
    delete_comment: perUserHour(15, 'deleteComment'),
  },
  thresholds: { http_req_failed: ['rate<0.01'] },
};

/** Logs some users in; each iteration acts as one of them, on what was there before the load. */
export function setup() {
  const sessions = [];
  for (let number = 0; number < SESSIONS; number += 1) sessions.push(people ? logIn(number) : autoAuth(number));
  return { sessions, began: `${new Date().toISOString().slice(0, 19)}Z` };
}

/** As a browser does: the token of the page, then the form. */
function logIn(number) {
  const person = people[(number + 1) % people.length];
  const token = http.get(`${BASE_URL}/csrf/api/v1/token`, { tags: { name: 'csrf_token' } }).json('csrfToken');
  const form = { email: person.email, password: person.password };
  const parameters = { headers: { 'X-CSRFToken': token, Referer: BASE_URL }, tags: { name: 'login' } };
  return sessionOf(http.post(`${BASE_URL}/api/user/v1/account/login_session/`, form, parameters));
}

/** What test installations offer instead (Open edX: AUTOMATIC_AUTH_FOR_TESTING). */
function autoAuth(number) {
  const name = `user${String(number + 2).padStart(3, '0')}`;
  return sessionOf(http.get(`${BASE_URL}/auto_auth?username=${name}`, { tags: { name: 'auto_auth' } }));
}

function sessionOf(answer) {
  if (answer.status !== 200) fail(`no login: HTTP ${answer.status} ${answer.body}`);
  return { id: answer.cookies.sessionid[0].value, token: answer.cookies.csrftoken[0].value };
}

export function viewThreads(data) {
  threadList(someSession(data));
}

export function viewThread(data) {
  const session = someSession(data);
  const id = someSeededThread();
  get(session, `/threads/${id}/?${FIELDS}`, 'GET_thread');
  commentList(session, id);
}

export function createThread(data) {
  postThread(someSession(data));
}

export function createResponse(data) {
  const session = someSession(data);
  const thread = earlier(data, threadList(session));
  if (thread) postComment(session, { thread_id: thread.id }, 'POST_comment_response');
}

export function createComment(data) {
  const session = someSession(data);
  const thread = earlier(data, threadList(session));
  const response = thread && earlier(data, commentList(session, thread.id));
  if (response) postComment(session, { thread_id: thread.id, parent_id: response.id }, 'POST_comment_comment');
}

export function patchThread(data) {
  const session = someSession(data);
  const thread = earlier(data, threadList(session));
  if (thread) send(session, 'PATCH', `/threads/${thread.id}/`, { voted: !thread.voted }, 'PATCH_thread');
}

export function patchComment(data) {
  const session = someSession(data);
  const thread = earlier(data, threadList(session));
  const response = thread && earlier(data, commentList(session, thread.id));
  if (response) send(session, 'PATCH', `/comments/${response.id}/`, { voted: !response.voted }, 'PATCH_comment');
}

/** Its own thread, so that the forum does not empty. */
export function deleteThread(data) {
  const session = someSession(data);
  const thread = postThread(session);
  if (!thread) return;
  get(session, `/threads/${thread.id}/?${FIELDS}`, 'GET_thread');
  send(session, 'DELETE', `/threads/${thread.id}/`, null, 'DELETE_thread', 204);
}

export function deleteComment(data) {
  const session = someSession(data);
  const thread = earlier(data, threadList(session));
  const response = thread && postComment(session, { thread_id: thread.id }, 'POST_comment_response');
  if (response) send(session, 'DELETE', `/comments/${response.id}/`, null, 'DELETE_comment', 204);
}

/** One of the first pages of the most discussed threads: new threads do not come into it, so it stays the same work. */
function threadList(session) {
  const page = 1 + Math.floor(Math.random() * PAGES);
  const query = `course_id=${encodeURIComponent(COURSE)}&order_by=comment_count&page=${page}&page_size=${PAGE_SIZE}`;
  return results(get(session, `/threads/?${query}${FIELDS}`, 'GET_thread_list'));
}

function commentList(session, threadId) {
  const query = `thread_id=${threadId}&page_size=${PAGE_SIZE}${FIELDS}`;
  return results(get(session, `/comments/?${query}`, 'GET_comment_list'));
}

function postThread(session) {
  const text = { title: someWords(6), raw_body: someWords(40) };
  const body = { course_id: COURSE, topic_id: 'general', type: 'discussion', ...text };
  const answer = send(session, 'POST', '/threads/', body, 'POST_thread', 201);
  return answer.status === 201 ? answer.json() : null;
}

function postComment(session, place, name) {
  const answer = send(session, 'POST', '/comments/', { ...place, raw_body: someWords(25) }, name, 201);
  return answer.status === 201 ? answer.json() : null;
}

function get(session, path, name) {
  return counted(http.get(API + path, parameters(session, name)), 200);
}

function send(session, method, path, body, name, status = 200) {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const content = body === null ? null : JSON.stringify(body);
  return counted(http.request(method, API + path, content, parameters(session, name, type)), status);
}

function parameters(session, name, type) {
  const headers = { 'X-CSRFToken': session.token, Referer: BASE_URL };
  if (type) headers['Content-Type'] = type;
  return { headers, cookies: { sessionid: session.id, csrftoken: session.token }, tags: { name } };
}

/** Checks the status, and counts the server-side transactions that the forum tells of (the product tells of none). */
function counted(answer, status) {
  check(answer, { 'status is as expected': (each) => each.status === status });
  const transactions = Number(answer.headers['X-Transactions'] || 0);
  const calls = Number(answer.headers['X-Accounts-Calls'] || 0);
  if (transactions > 0) {
    perRequest.add(transactions);
    for (let place = 0; place < transactions; place += 1) accountsShare.add(place < calls);
  }
  return answer;
}

function results(answer) {
  return answer.status === 200 ? answer.json('results') : [];
}

/** One of those that were there before the load: what another iteration makes, it may delete at any time. */
function earlier(data, list) {
  return anyOf(list.filter((one) => one.created_at < data.began));
}

function someSession(data) {
  return anyOf(data.sessions);
}

/** Seeded threads are never deleted; the courses take turns, and each has its own fifth of them. */
function someSeededThread() {
  return (1 + Math.floor(Math.random() * THREADS)).toString(16).padStart(24, '0');
}

const WORDS = 'the course week answer question video exam grade why how lecture problem set think find help'.split(' ');

function someWords(count) {
  return Array.from({ length: count }, () => anyOf(WORDS)).join(' ');
}

function anyOf(list) {
  return list[Math.floor(Math.random() * list.length)];
}

// Rates are per hour, so that small ones are not rounded to whole numbers a minute.
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
