// A file read in pieces.
import { open as openFile, SeekMode } from 'k6/experimental/fs';
import { check } from 'k6';

export const options = { vus: 1, iterations: 3 };

const file = await openFile('./data/leaf.bin');

export default async function () {
  const { name, size } = await file.stat();
  const piece = new Uint8Array(4);
  await file.seek(0, SeekMode.Start);
  const first = await file.read(piece);
  check(null, {
    'its name and size': () => name.endsWith('leaf.bin') && size === 14,
    'its first bytes': () => first === 4 && String.fromCharCode(...piece) === 'leaf',
  });
  await file.seek(size - 3, SeekMode.Start);
  await file.read(piece);
  check(String.fromCharCode(...piece.slice(0, 3)), { 'its last bytes': (text) => text === 'oak' });
  const rest = await file.read(piece);
  check(rest, { 'its end': (got) => got === null });
}
