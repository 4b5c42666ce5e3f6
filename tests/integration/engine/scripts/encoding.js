import { check } from 'k6';
import encoding, { b64decode, b64encode } from 'k6/encoding';
const bytes = new Uint8Array([0, 255, 16, 62, 251]);
const of = (buffer) => (buffer instanceof ArrayBuffer ? [...new Uint8Array(buffer)].join() : typeof buffer);
const thrown = (work) => { try { work(); } catch (error) { return error.message; } return 'nothing'; };
export default function () {
  check(null, {
    'the default export': () => encoding.b64encode === b64encode && encoding.b64decode === b64decode,
    'RFC 4648': () => ['', 'f', 'fo', 'foo', 'foob', 'fooba', 'foobar'].map((text) => b64encode(text)).join()
      === ',Zg==,Zm8=,Zm9v,Zm9vYg==,Zm9vYmE=,Zm9vYmFy',
    'four forms': () => ['std', 'rawstd', 'url', 'rawurl'].map((form) => b64encode(bytes.buffer, form)).join() === 'AP8QPvs=,AP8QPvs,AP8QPvs=,AP8QPvs',
    'alphabets': () => b64encode(new Uint8Array([251, 255]), 'std') === '+/8=' && b64encode(new Uint8Array([251, 255]), 'url') === '-_8=',
    'an unknown form is std': () => b64encode('hi', 'weird') === 'aGk=',
    'a view': () => b64encode(bytes.subarray(1, 3)) === '/xA=',
    'UTF-8': () => b64encode('こんにちは') === '44GT44KT44Gr44Gh44Gv' && b64decode('44GT', 'std', 's') === 'こ',
    'bytes by default': () => of(b64decode('AP8QPvs=')) === '0,255,16,62,251' && of(b64decode('aGk=', 'std', 'b')) === '104,105',
    'text': () => b64decode('aGVsbG8=', undefined, 's') === 'hello' && b64decode('aGVsbG8', 'rawstd', 's') === 'hello',
    'line breaks': () => b64decode('aGVs\r\nbG8=', 'std', 's') === 'hello',
    'no UTF-8': () => b64decode('/////w==', 'std', 's').codePointAt(0) === 0xfffd,
    'mistakes': () => thrown(() => b64decode('a*b')).includes('illegal base64 data at input byte 1')
      && thrown(() => b64decode('aGVsbG8=', 'rawstd')).includes('illegal base64 data')
      && thrown(() => b64decode('aGVsbG8')).includes('illegal base64 data'),
    'no text': () => [5, null, undefined, {}, [1], true].every((value) => thrown(() => b64encode(value)).includes('wants a text or an ArrayBuffer')),
  });
}
