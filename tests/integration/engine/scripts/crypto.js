import { check } from 'k6';
import crypto, * as names from 'k6/crypto';
const text = 'Hi There';
const keyOf = (name) => new Uint8Array(name === 'md5' ? 16 : 20).fill(0x0b).buffer;
const abc = {
  md4: 'a448017aaf21d8525fc10ae87aa6729d', // RFC 1320
  md5: '900150983cd24fb0d6963f7d28e17f72', // RFC 1321
  sha1: 'a9993e364706816aba3e25717850c26c9cd0d89d', // RFC 3174
  sha256: 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad', // FIPS 180-4, here and below
  sha384: 'cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7',
  sha512: 'ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f',
  sha512_224: '4634270f707b6a54daae7530460842e20e37ed265ceee9a43e8924aa',
  sha512_256: '53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23',
  ripemd160: '8eb208f7e05d987a9b044a8e98c6b087f15a0bfc', // ISO/IEC 10118-3
};
const hiThere = {
  md5: '9294727a3638bb1c13f48ef8158bfc9d', // RFC 2202, whose key for it has 16 bytes
  sha1: 'b617318655057264e28bc0b6fb378c8ef146be00', // RFC 2202
  ripemd160: '24cb4bd67d20fc1a5d2ed7732dcc39377f0a5668', // RFC 2286
  sha256: 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7', // RFC 4231, here and below
  sha384: 'afd03944d84895626b0825f4ab46907f15f9dadbe4101ec682aa034c7cebc59cfaea9ea9076ede7f4af152e8b2fa9cb6',
  sha512: '87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854',
};
const thrown = (work) => { try { work(); } catch (error) { return error.message; } return 'nothing'; };
export default function () {
  for (const [name, digest] of Object.entries(abc)) {
    check(null, {
      [name]: () => crypto[name]('abc', 'hex') === digest && names[name] === crypto[name],
      [`createHash ${name}`]: () => {
        const hasher = crypto.createHash(name);
        hasher.update('a');
        hasher.update(new Uint8Array([98, 99]).buffer);
        const first = hasher.digest('hex');
        hasher.update('d');
        return first === digest && hasher.digest('hex') === crypto[name]('abcd', 'hex');
      },
    });
  }
  for (const [name, digest] of Object.entries(hiThere)) {
    check(null, {
      [`hmac ${name}`]: () => crypto.hmac(name, keyOf(name), text, 'hex') === digest,
      [`createHMAC ${name}`]: () => { const hasher = crypto.createHMAC(name, keyOf(name)); hasher.update(text); return hasher.digest('hex') === digest; },
    });
  }
  const long = new Uint8Array(131).fill(0xaa).buffer;
  check(null, {
    'a key longer than a block (RFC 4231)': () => crypto.hmac('sha256', long, 'Test Using Larger Than Block-Size Key - Hash Key First', 'hex')
      === '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    'encodings': () => crypto.md5('hello', 'base64') === 'XUFAKrxLKna5cZ2REBfFkg==' && crypto.md5('hello', 'base64url') === 'XUFAKrxLKna5cZ2REBfFkg=='
      && crypto.md5('hello', 'base64rawurl') === 'XUFAKrxLKna5cZ2REBfFkg',
    'binary': () => { const digest = crypto.md5('hello', 'binary'); return digest instanceof ArrayBuffer && crypto.hexEncode(digest) === crypto.md5('hello', 'hex'); },
    'unknown encodings': () => ['foo', undefined].every((name) => thrown(() => crypto.md5('a', name)).includes('invalid output encoding'))
      && thrown(() => crypto.createHash('md5').digest()).includes('invalid output encoding'),
    'unknown algorithms': () => ['foo', ''].every((name) => thrown(() => crypto.createHMAC(name, 'k')).includes('invalid algorithm')
      && thrown(() => crypto.createHash(name)).includes('invalid algorithm') && thrown(() => crypto.hmac(name, 'k', 'a', 'hex')).includes('invalid algorithm')),
    'no text': () => [5, null, undefined, {}, [1]].every((value) => thrown(() => crypto.sha256(value, 'hex')).includes('sha256() wants a text')
      && thrown(() => crypto.hmac('sha256', value, 'a', 'hex')).includes('wants a text')),
    'a lone surrogate': () => crypto.md5('\ud800', 'hex') === crypto.md5('\ufffd', 'hex'),
    'hexEncode': () => crypto.hexEncode('hello') === '68656c6c6f' && crypto.hexEncode(new Uint8Array([1, 255]).buffer) === '01ff',
    'randomBytes': () => { const bytes = crypto.randomBytes(32); return bytes instanceof ArrayBuffer && bytes.byteLength === 32 && crypto.hexEncode(bytes) !== crypto.hexEncode(crypto.randomBytes(32)); },
    'randomBytes of nothing': () => [0, -1, 'x', undefined].every((size) => thrown(() => crypto.randomBytes(size)).includes('from 1 to')),
  });
}
