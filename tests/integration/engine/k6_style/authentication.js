// Names and passwords in the address, basic and digest.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 5 };

const signed = (user, path) => `${__ENV.URL.replace('://', `://${user}@`)}${path}`;

export default function () {
  check(http.get(signed('ada:engine', '/basic/ada/engine')), { 'basic, in the address': (r) => r.status === 200 });
  check(http.get(signed('ada:wrong', '/basic/ada/engine')), { 'a wrong password': (r) => r.status === 401 });
  check(http.get(signed('ada:engine', '/digest/ada/engine'), { auth: 'digest' }), { digest: (r) => r.status === 200 });
}
