import { check } from 'k6';
const thrown = (work) => { try { work(); } catch (error) { return error.message; } return 'nothing'; };
export default function () {
  const seen = [];
  const all = check(7, { first: (value) => { seen.push(value); return value === 7; }, truthy: () => 'text', constant: true });
  const none = check(7, { falsy: () => 0, nothing: () => undefined });
  let after = false;
  const message = thrown(() => check(null, { throws: () => { throw new Error('inside'); }, after: () => { after = true; } }));
  check(null, {
    'outcomes': () => all === true && none === false && seen.join() === '7',
    'a throwing test ends the check': () => message === 'inside' && !after,
    'asynchronous tests are refused': () => thrown(() => check(null, { later: async () => true })).includes("check 'later'"),
    'no object of tests': () => thrown(() => check(null)).includes('object of tests'),
  }, { kind: 'own' });
}
