// Files in forms, from disk and from memory.
import http from 'k6/http';
import { check } from 'k6';

export const options = { vus: 1, iterations: 4 };

const bytes = open('./data/leaf.bin', 'b');
const text = open('./data/birds.csv');

export default function () {
  const form = {
    note: 'two files',
    table: http.file(text, 'birds.csv', 'text/csv'),
    picture: http.file(bytes, 'leaf.bin'),
  };
  const response = http.post(`${__ENV.URL}/echo`, form);
  const headers = response.json('headers');
  const type = headers.find(([name]) => name.toLowerCase() === 'content-type')[1];
  const boundary = type.split('boundary=')[1];
  const body = response.json('body');
  check(body, {
    'it is a form of parts': () => type.startsWith('multipart/form-data; boundary=') && boundary.length > 10,
    'it has three parts': (b) => b.split(`--${boundary}`).length === 5,
    'a field is plain': (b) => b.includes('Content-Disposition: form-data; name="note"\r\n\r\ntwo files\r\n'),
    'a file has name and type': (b) => b.includes('name="table"; filename="birds.csv"') && b.includes('Content-Type: text/csv'),
    'a file without a type is bytes': (b) => b.includes('filename="leaf.bin"\r\nContent-Type: application/octet-stream'),
    'a file has its content': (b) => b.includes('wren,9\n'),
  });
  const binary = http.post(`${__ENV.URL}/back`, bytes, { responseType: 'binary' });
  check(new Uint8Array(binary.body), { 'bytes come back as they went': (b) => b.length === bytes.byteLength && b[3] === new Uint8Array(bytes)[3] });
}
