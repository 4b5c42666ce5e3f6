import { check } from 'k6';
import csv from 'k6/experimental/csv';
import { open, SeekMode } from 'k6/experimental/fs';
const outcome = async (work) => { try { return JSON.stringify(await work()); } catch (error) { return `${error.name}: ${error.message}`; } };
const file = await open('./people.csv');
const results = {};
const expect = async (name, work, wanted) => { const got = await outcome(work); results[name] = got.includes(wanted) || got; };
const bytes = async (size) => { const into = new Uint8Array(size); const count = await file.read(into); return `${count}:${into.join()}`; };
await expect('stat', () => file.stat(), '{"name":"people.csv","size":71}');
await expect('read', () => bytes(5), '5:102,105,114,115,116');
await expect('seek', () => file.seek(5, SeekMode.Start), '5');
await expect('seek on', () => file.seek(2, SeekMode.Current), '7');
await expect('seek from the end', () => file.seek(-3, SeekMode.End), '68');
await expect('read the rest', () => bytes(5), '3:44,57,10,0,0');
await expect('read at the end', () => bytes(5), 'null:');
for (const [offset, whence] of [[5000, 0], [-1, 0], [1, 2], [1, 7], [1], ['1', 0], [1.5, 0], [null, 0], []]) {
  await expect(`seek ${offset} ${whence}`, () => file.seek(offset, whence), 'TypeError: seek(');
}
for (const into of [null, undefined, [1], new ArrayBuffer(5), new Uint16Array(5)]) await expect(`read ${into}`, () => file.read(into), 'TypeError: read() wants');
await expect('no such file', () => open('./nope.csv'), 'NotFoundError');
await expect('a folder', () => open('.'), 'InvalidResourceError');
for (const path of ['', null, undefined]) await expect(`open ${path}`, () => open(path), 'TypeError: open() wants a path');

const all = [['firstname', 'lastname', 'age'], ['francis', 'mercier', '42'], ['a,b', 'c "q"', '3'], ['last', 'row', '9']];
const objects = all.slice(1).map(([firstname, lastname, age]) => ({ firstname, lastname, age }));
const parsed = (options) => async () => csv.parse(file, options);
const lines = (from, to) => JSON.stringify(all.slice(from, to));
await expect('parse', parsed(), JSON.stringify(all));
await expect('skipFirstLine', parsed({ skipFirstLine: true }), lines(1));
await expect('lines', parsed({ fromLine: 1, toLine: 2 }), lines(1, 3));
await expect('from the first', parsed({ fromLine: 0, toLine: 1 }), lines(0, 2));
await expect('skip and from', parsed({ skipFirstLine: true, fromLine: 2 }), lines(2));
await expect('objects', parsed({ asObjects: true }), JSON.stringify(objects));
await expect('objects to', parsed({ asObjects: true, toLine: 2 }), JSON.stringify(objects.slice(0, 2)));
await expect('from behind the end', parsed({ fromLine: 50 }), 'fromLine 50');
await expect('from after to', parsed({ fromLine: 3, toLine: 1 }), 'fromLine is after toLine');
await expect('negative', parsed({ fromLine: -1 }), 'at least 0');
await expect('objects skip', parsed({ asObjects: true, skipFirstLine: true }), 'asObjects takes the names');
await expect('delimiter', async () => csv.parse(await open('./semicolons.csv'), { delimiter: ';' }), '[["x","y"],["1","2"],["#c","d"]]');
await expect('long delimiter', parsed({ delimiter: ';;' }), 'is not one ASCII character');
await expect('fields missing', async () => csv.parse(await open('./uneven.csv')), 'record on line 2: wrong number of fields');
await expect('no file', async () => csv.parse('people.csv'), 'wants a file');
const shared = await csv.parse(file);
const parser = new csv.Parser(file, { asObjects: true, toLine: 1 });

export default async function () {
  const next = [await parser.next(), await parser.next()];
  const messages = [await outcome(() => open('./people.csv')), await outcome(() => new csv.Parser(file))];
  const later = await csv.parse(file);
  check(null, {
    ...Object.fromEntries(Object.entries(results).map(([name, result]) => [result === true ? name : `${name}: ${result}`, result === true])),
    'parser': () => __ITER > 0 || JSON.stringify(next) === JSON.stringify([{ done: false, value: objects[0] }, { done: true, value: [] }]),
    'shared': () => Array.isArray(shared) && Object.isFrozen(shared[0]) && shared.length === 4 && later.length === 4,
    'only in init': () => messages[0].startsWith('ForbiddenError') && messages[1].includes('init context'),
  });
}
