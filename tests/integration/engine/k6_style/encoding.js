// Base64 of text and of bytes, both ways.
import encoding from 'k6/encoding';
import { check } from 'k6';

export const options = { vus: 1, iterations: 10 };

export default function () {
  const greeting = 'grüß dich > ?';
  check(null, {
    'text goes there and back': () => encoding.b64decode(encoding.b64encode(greeting), 'std', 's') === greeting,
    'as the standard has it': () => encoding.b64encode('hello, world') === 'aGVsbG8sIHdvcmxk',
    'for addresses, without padding': () => encoding.b64encode(greeting, 'rawurl') === 'Z3LDvMOfIGRpY2ggPiA_',
    'padding is kept where it is wanted': () => encoding.b64encode('a', 'url') === 'YQ==' && encoding.b64encode('a', 'rawstd') === 'YQ',
    'bytes come as bytes': () => new Uint8Array(encoding.b64decode('AQID'))[2] === 3,
    'bytes can be given': () => encoding.b64encode(new Uint8Array([1, 2, 3]).buffer) === 'AQID',
  });
}
