// Each method by its function and by request(), with a body, and what the server saw of it.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 2, iterations: 6, userAgent: 'shelf/1.0' };

const URL = `${__ENV.URL}/echo`;
const body = JSON.stringify({ title: 'Bergwelten', pages: 312 });
const params = { headers: { 'Content-Type': 'application/json', 'X-Shelf': 'B7' }, tags: { name: 'shelf' } };

const header = (response, wanted) => response.json('headers').find(([name]) => name.toLowerCase() === wanted)[1];

export default function () {
  check(http.get(`${URL}?page=2&size=10`), {
    'get has its query': (r) => r.status === 200 && r.json('target') === '/echo?page=2&size=10',
    'get says who it is': (r) => header(r, 'user-agent') === 'shelf/1.0',
    'get has a type': (r) => r.headers['Content-Type'] === 'application/json',
  });
  for (const [method, send] of [['POST', http.post], ['PUT', http.put], ['PATCH', http.patch], ['DELETE', http.del]]) {
    check(send(URL, body, params), {
      [`${method} arrives`]: (r) => r.json('method') === method,
      [`${method} has its body`]: (r) => JSON.parse(r.json('body')).pages === 312,
      [`${method} has its headers`]: (r) => header(r, 'x-shelf') === 'B7' && header(r, 'content-type') === 'application/json',
    });
  }
  check(http.head(URL), { 'head has no body': (r) => r.status === 200 && !r.body });
  check(http.options(URL), { 'options arrives': (r) => r.json('method') === 'OPTIONS' });
  check(http.request('REPORT', URL, 'all'), { 'a method of its own': (r) => r.json('method') === 'REPORT' && r.json('body') === 'all' });
  check(http.post(URL, { author: 'A. Stifter', year: 1853 }), {
    'an object is a form': (r) => r.json('body') === 'author=A.+Stifter&year=1853',
    'a form says so': (r) => header(r, 'content-type') === 'application/x-www-form-urlencoded',
  });
  check(http.get(http.url`${__ENV.URL}/echo?id=${__ITER}`), { 'a template is a URL': (r) => r.json('target') === `/echo?id=${__ITER}` });
}
