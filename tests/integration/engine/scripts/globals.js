import { check } from 'k6';
const thrown = (work) => { try { work(); } catch (error) { return `${error.name}: ${error.message}`; } return 'nothing'; };
const bytes = (...list) => new Uint8Array(list);
const binary = open('./words.bin', 'b');
const text = open('./words.bin');
const euro = bytes(0xe2, 0x82, 0xac);
export default function () {
  const decoder = new TextDecoder();
  const parts = new TextDecoder();
  check(null, {
    'open b': () => binary instanceof ArrayBuffer && [...new Uint8Array(binary)].join() === '97,44,98,10,255' && text.startsWith('a,b\n'),
    'open in a VU': () => thrown(() => open('./words.bin')).includes('only in the init context'),
    'encode': () => { const made = new TextEncoder().encode('a€😀'); return made instanceof Uint8Array && made.join() === '97,226,130,172,240,159,152,128'; },
    'encode nothing': () => new TextEncoder().encode().length === 0 && new TextEncoder().encoding === 'utf-8',
    'encodeInto': () => { const into = new Uint8Array(5); const done = new TextEncoder().encodeInto('a€😀', into); return done.read === 2 && done.written === 4; },
    'decode': () => decoder.decode(euro) === '€' && decoder.decode(euro.buffer) === '€' && decoder.decode() === '' && decoder.encoding === 'utf-8',
    'decode a view': () => decoder.decode(bytes(0, 97, 98, 0).subarray(1, 3)) === 'ab',
    'decode in parts': () => parts.decode(euro.subarray(0, 1), { stream: true }) === '' && parts.decode(euro.subarray(1), { stream: true }) === '€' && parts.decode() === '',
    'replaced or fatal': () => decoder.decode(bytes(97, 255)) === 'a\ufffd' && thrown(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes(255))).startsWith('TypeError'),
    'byte order mark': () => decoder.decode(bytes(0xef, 0xbb, 0xbf, 97)) === 'a' && new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes(0xef, 0xbb, 0xbf, 97)) === '\ufeffa',
    'utf-16': () => new TextDecoder('utf-16le').decode(bytes(0x61, 0, 0x3d, 0xd8, 0, 0xde)) === 'a😀' && new TextDecoder('utf-16be').decode(bytes(0, 0x61)) === 'a',
    'unknown encoding': () => thrown(() => new TextDecoder('klingon')).startsWith('RangeError'),
    'randomUUID': () => /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()) && crypto.randomUUID() !== crypto.randomUUID(),
    'getRandomValues': () => { const list = new Uint32Array(8); return crypto.getRandomValues(list) === list && new Set(list).size > 4; },
    'a part of a buffer': () => { const all = new Uint8Array(64); crypto.getRandomValues(all.subarray(16, 48)); return all.subarray(0, 16).every((b) => b === 0) && all.subarray(48).every((b) => b === 0) && all.some((b) => b); },
    'clamped': () => crypto.getRandomValues(new Uint8ClampedArray(32)).some((b) => b),
    'no integers': () => [new Float32Array(4), new ArrayBuffer(4), [1], undefined].every((value) => thrown(() => crypto.getRandomValues(value)).startsWith('TypeError')),
    'an offset that is not its own': () => [2 ** 64, 1, -1, Infinity].every((byteOffset) => thrown(() => crypto.getRandomValues(Object.defineProperty(new Uint8Array(65536), 'byteOffset', { value: byteOffset }))) !== 'nothing'),
    'too many': () => thrown(() => crypto.getRandomValues(new Uint8Array(65537))).startsWith('QuotaExceededError'),
    'subtle': () => thrown(() => crypto.subtle).includes('not supported yet'),
    '__ENV': () => __ENV.URL === '' && 'PATH' in { ...__ENV, PATH: 1 } && (__ENV.OWN = 'x') && __ENV.OWN === 'x',
  });
}
