// Redirects: followed, counted, limited, and with cookies on the way.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 5, maxRedirects: 4 };

export default function () {
  check(http.get(`${__ENV.URL}/redirect/3`), {
    'three are followed': (r) => r.status === 200 && r.url.endsWith('/echo'),
  });
  check(http.get(`${__ENV.URL}/redirect/2?set=1`), {
    'a cookie set on the way is brought on': (r) => r.json('headers').some(([name, value]) => name.toLowerCase() === 'cookie' && value.includes('hop2=2')),
  });
  check(http.get(`${__ENV.URL}/redirect/3`, { redirects: 0 }), {
    'none are followed where none are wanted': (r) => r.status === 302 && r.headers.Location === '/redirect/2',
  });
  check(http.get(`${__ENV.URL}/redirect/9`), { 'too many end at the limit': (r) => r.status === 302 });
  check(http.post(`${__ENV.URL}/to?status=303&url=/echo`, 'letter'), { 'a 303 makes a GET of a POST': (r) => r.json('method') === 'GET' && r.json('body') === '' });
  check(http.post(`${__ENV.URL}/to?status=307&url=/echo`, 'letter'), { 'a 307 keeps the POST and its body': (r) => r.json('method') === 'POST' && r.json('body') === 'letter' });
}
