// Shops put orders into queues and workers take them, both over HTTP; an operator looks at the queues.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    shops: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 30,
      maxVUs: 1500,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'] },
};

const api = `${__ENV.BASE_URL}/api`;
const headers = { 'Content-Type': 'application/json', Authorization: 'Basic Z3Vlc3Q6Z3Vlc3Q=' };

export default function () {
  const queue = `orders-${Math.floor(Math.random() * 20)}`;
  const order = JSON.stringify({
    properties: {}, routing_key: queue, payload: JSON.stringify({ item: 7, text: 'x'.repeat(300) }), payload_encoding: 'string',
  });
  const sent = http.post(`${api}/exchanges/%2F/amq.default/publish`, order, { headers, tags: { name: 'publish' } });
  check(sent, { routed: (r) => r.status === 200 && r.json('routed') === true });
  const take = JSON.stringify({ count: 2, ackmode: 'ack_requeue_false', encoding: 'auto' });
  const taken = http.post(`${api}/queues/%2F/${queue}/get`, take, { headers, tags: { name: 'take' } });
  check(taken, { taken: (r) => r.status === 200 });
  if (Math.random() < 0.02) http.get(`${api}/queues/%2F?columns=name,messages`, { headers, tags: { name: 'queues' } });
}
