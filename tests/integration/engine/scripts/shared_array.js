import { check } from 'k6';
import { SharedArray } from 'k6/data';
const thrown = (work) => { try { work(); } catch (error) { return `${error.name}: ${error.message}`; } return 'nothing'; };
const rows = new SharedArray('rows', () => [{ a: 1, n: { m: [1, 2] } }, 'two', 3, null, new Date(0), NaN, undefined]);
const again = new SharedArray('rows', () => { throw new Error('made twice'); });
const mistakes = [
  [() => new SharedArray(), 'wants a function'], [() => new SharedArray('x', 5), 'wants a function'],
  [() => new SharedArray('', () => []), 'needs a name'], [() => new SharedArray('x1', async () => []), 'asynchronous'],
  [() => new SharedArray('x2', () => ({})), 'must return an array'], [() => new SharedArray('x3', () => null), 'must return an array'],
  [() => new SharedArray('x4', () => { throw new Error('inner'); }), 'inner'],
].map(([work, wanted]) => thrown(work).includes(wanted));
export default function () {
  const immutable = (work) => thrown(work).startsWith('TypeError') && thrown(work).includes('immutable');
  const listed = []; for (const index in rows) listed.push(index);
  check(null, {
    'mistakes': () => mistakes.every(Boolean),
    'in a VU': () => thrown(() => new SharedArray('rows', () => [])).includes('init context'),
    'an array': () => Array.isArray(rows) && rows instanceof Array && rows.length === 7 && again.length === 7,
    'as JSON': () => JSON.stringify(rows) === '[{"a":1,"n":{"m":[1,2]}},"two",3,null,"1970-01-01T00:00:00.000Z",null,null]',
    'iteration': () => [...rows].length === 7 && rows.map((row) => typeof row).join() === 'object,string,number,object,string,object,object',
    'for in': () => listed.join() === '0,1,2,3,4,5,6' && Object.keys(rows).join() === listed.join(),
    'indexes': () => rows[7] === undefined && rows[-1] === undefined && rows[1.5] === undefined && rows['0'].a === 1 && rows['00'] === undefined && rows.at(-5) === 3,
    'methods': () => rows.slice(1, 3).join() === 'two,3' && rows.indexOf(3) === 2 && rows.includes('two') && rows.find((row) => row === 3) === 3 && rows.concat([1]).length === 8,
    'in': () => 0 in rows && !(7 in rows) && rows.hasOwnProperty(0) && !rows.hasOwnProperty(7),
    'frozen': () => Object.isFrozen(rows[0]) && Object.isFrozen(rows[0].n.m) && thrown(() => { rows[0].a = 2; }).startsWith('TypeError') && thrown(() => rows[0].n.m.push(3)).startsWith('TypeError'),
    'immutable': () => immutable(() => { rows[0] = 1; }) && immutable(() => { rows.length = 0; }) && immutable(() => rows.push(1)) && immutable(() => { delete rows[0]; })
      && immutable(() => rows.reverse()) && immutable(() => { rows.foo = 1; }) && immutable(() => Object.freeze(rows)),
    'copies': () => { const copy = [...rows]; copy.push(1); return copy.length === 8 && rows.length === 7 && rows[0] !== rows[0]; },
  });
}
