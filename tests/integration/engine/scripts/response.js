import http from 'k6/http';
import { check } from 'k6';
const FIELDS = ['status', 'status_text', 'url', 'proto', 'remote_ip', 'remote_port', 'tls_version', 'error', 'error_code',
  'body', 'timings', 'headers', 'cookies', 'request'];
const PHASES = ['duration', 'blocked', 'looking_up', 'connecting', 'tls_handshaking', 'sending', 'waiting', 'receiving'];
export default function () {
  const response = http.post(`${__ENV.URL}/x`, JSON.stringify({ a: 1 }), { headers: { 'X-Own': 'yes' } });
  const other = http.get(`${__ENV.URL}/y`);
  const listed = []; for (const name in response) listed.push(name);
  const written = http.get(__ENV.URL); written.status = 299; written.body = 'mine'; written.timings = null; written.headers = {};
  check(response, {
    'fields are listed': () => FIELDS.every((name) => listed.includes(name)),
    'fields are in its JSON': (r) => FIELDS.every((name) => name in JSON.parse(JSON.stringify(r))),
    'phases are in its JSON': (r) => PHASES.every((name) => typeof JSON.parse(JSON.stringify(r)).timings[name] === 'number'),
    'phases are listed': (r) => { const found = []; for (const name in r.timings) found.push(name); return PHASES.every((name) => found.includes(name)); },
    'made once': (r) => r.timings === r.timings && r.headers === r.headers && r.request === r.request && r.cookies === r.cookies,
    'apart from another': (r) => r.url !== other.url && r.timings !== other.timings,
    'request': (r) => r.request.method === 'POST' && r.request.body === '{"a":1}' && r.request.headers['X-Own'].join() === 'yes',
    'status text': (r) => r.status_text === '200 Known' && r.error === '' && r.error_code === 0,
    'written fields stay': () => written.status === 299 && written.body === 'mine' && written.timings === null
      && Object.keys(written.headers).length === 0 && other.status === 200,
    'sum of phases': (r) => Math.abs(r.timings.sending + r.timings.waiting + r.timings.receiving - r.timings.duration) < 1e-9,
  });
}
