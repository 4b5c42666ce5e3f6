// Cookies that the server sets, that a request brings, and that a jar holds.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 2, iterations: 6 };

const echo = `${__ENV.URL}/echo`;
const sent = (response) => (response.json('headers').find(([name]) => name.toLowerCase() === 'cookie') || ['', ''])[1].split('; ').sort().join('; ');

export default function () {
  const set = http.get(`${__ENV.URL}/set?cookie=crumb=1;Path=/&cookie=tray=2;Path=/kitchen`);
  check(set, {
    'a response has its cookies': (r) => r.cookies.crumb[0].value === '1' && r.cookies.tray[0].path === '/kitchen',
    'the next request brings those of its path': () => sent(http.get(echo)) === 'crumb=1',
  });
  const jar = http.cookieJar();
  check(jar, {
    'the jar of the VU has them': (j) => j.cookiesForURL(echo).crumb[0] === '1',
    'a request has some of its own': () => sent(http.get(echo, { cookies: { plate: 'blue' } })) === 'crumb=1; plate=blue',
    'one of its own can replace': () => sent(http.get(echo, { cookies: { crumb: { value: 'none', replace: true } } })) === 'crumb=none',
  });
  jar.set(echo, 'fork', 'silver');
  check(sent(http.get(echo)), { 'a cookie can be put into the jar': (text) => text === 'crumb=1; fork=silver' });
  const other = new http.CookieJar();
  other.set(echo, 'spoon', 'wood');
  check(sent(http.get(echo, { jar: other })), { 'a request can have another jar': (text) => text === 'spoon=wood' });
  jar.delete(echo, 'fork');
  check(sent(http.get(echo)), { 'and taken out of it': (text) => text === 'crumb=1' });
  jar.clear(echo);
  check(sent(http.get(echo)), { 'or the jar be emptied': (text) => text === '' });
}
