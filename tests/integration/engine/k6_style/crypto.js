// Digests and codes of known text.
import crypto from 'k6/crypto';
import { check } from 'k6';
import { sha256, hmac, createHash, createHMAC, randomBytes, hexEncode } from 'k6/crypto';

export const options = { vus: 2, iterations: 10 };

export default function () {
  check(null, {
    'md5 of nothing': () => crypto.md5('', 'hex') === 'd41d8cd98f00b204e9800998ecf8427e',
    'sha1': () => crypto.sha1('The quick brown fox jumps over the lazy dog', 'hex') === '2fd4e1c67a2d28fced849ee1bb76e7391b93eb12',
    'sha256': () => sha256('abc', 'hex') === 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    'sha256 as base64': () => sha256('abc', 'base64') === 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=',
    'sha256 for addresses': () => sha256('abc', 'base64rawurl') === 'ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0',
    'sha384': () => crypto.sha384('abc', 'hex').startsWith('cb00753f45a35e8b'),
    'sha512 and its short forms': () => [crypto.sha512, crypto.sha512_224, crypto.sha512_256].map((f) => f('abc', 'hex').length).join() === '128,56,64',
    'md4 and ripemd160': () => crypto.md4('abc', 'hex') === 'a448017aaf21d8525fc10ae87aa6729d' && crypto.ripemd160('abc', 'hex') === '8eb208f7e05d987a9b044a8e98c6b087f15a0bfc',
    'a code with a key': () => hmac('sha256', 'key', 'The quick brown fox jumps over the lazy dog', 'hex') === 'f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8',
    'piece by piece': () => {
      const hash = createHash('sha1');
      hash.update('The quick brown fox ');
      hash.update('jumps over the lazy dog');
      return hash.digest('hex') === '2fd4e1c67a2d28fced849ee1bb76e7391b93eb12';
    },
    'a code piece by piece': () => {
      const code = createHMAC('sha256', 'key');
      code.update('The quick brown fox jumps over the lazy dog');
      return code.digest('hex').endsWith('2d1a3cd8');
    },
    'random bytes': () => randomBytes(16).byteLength === 16 && hexEncode(randomBytes(8)).length === 16,
    'random identifiers': () => /^[0-9a-f]{8}-[0-9a-f]{4}-4/.test(globalThis.crypto.randomUUID()),
  });
}
