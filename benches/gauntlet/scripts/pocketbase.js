// A small forum's app: newest posts of a topic, one of them, and one of ten writes.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    members: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 30,
      maxVUs: 1500,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<300'] },
};

const posts = `${__ENV.BASE_URL}/api/collections/posts/records`;

export default function () {
  const topic = `topic${Math.floor(Math.random() * 40)}`;
  const filter = encodeURIComponent(`topic = "${topic}" && likes > 10`);
  const list = http.get(`${posts}?filter=${filter}&sort=-created&perPage=20`, { tags: { name: 'list' } });
  if (!check(list, { 'has posts': (r) => r.status === 200 && r.json('items').length > 0 })) return;
  http.get(`${posts}/${list.json('items.0.id')}`, { tags: { name: 'post' } });
  if (Math.random() < 0.1) {
    const post = JSON.stringify({ title: 'A word', text: 'of mine', topic, likes: 11 });
    const written = http.post(posts, post, { headers: { 'Content-Type': 'application/json' }, tags: { name: 'write' } });
    check(written, { written: (r) => r.status === 200 });
  }
}
