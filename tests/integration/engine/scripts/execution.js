import { check, group } from 'k6';
import exec, { instance, scenario, test, vu } from 'k6/execution';
import { Counter } from 'k6/metrics';
const thrown = (work) => { try { work(); } catch (error) { return error.message; } return 'nothing'; };
const tagged = new Counter('tagged');
const inInit = [() => exec.vu.idInTest, () => exec.scenario.name, () => exec.instance.vusActive, () => exec.test.options, () => exec.vu.tags.a]
  .every((work) => thrown(work).includes('init context'));
export const options = {
  tags: { run: 'r' },
  scenarios: { sc: { executor: 'per-vu-iterations', vus: 1, iterations: 4, tags: { own: 's' } } },
};
export function setup() { return { name: thrown(() => exec.scenario.name), vu: exec.vu.idInTest, group: exec.vu.metrics.tags.group }; }
export default function (given) {
  const first = __ITER === 0;
  const tags = exec.vu.metrics.tags;
  check(null, {
    'in init': () => inInit,
    'in setup': () => given.name.includes('only in a scenario') && given.vu === 0 && given.group === '::setup',
    'exports': () => exec.instance === instance && exec.scenario === scenario && exec.test === test && exec.vu === vu,
    'vu': () => vu.idInTest === __VU && vu.idInInstance === __VU && vu.iterationInInstance === __ITER && vu.iterationInScenario === __ITER,
    'scenario': () => scenario.name === 'sc' && scenario.executor === 'per-vu-iterations' && scenario.iterationInTest === __ITER && scenario.iterationInInstance === __ITER,
    'progress': () => scenario.progress === __ITER / 4,
    'startTime': () => Math.abs(Date.now() - scenario.startTime) < 60000 && Number.isInteger(scenario.startTime),
    'instance': () => instance.vusActive === 1 && instance.vusInitialized === 1 && instance.iterationsCompleted === __ITER
      && instance.iterationsInterrupted === 0 && instance.currentTestRunDuration > 0,
    'options': () => exec.test.options.scenarios.sc.iterations === 4 && Object.isFrozen(exec.test.options.scenarios) && thrown(() => { exec.test.options.vus = 5; }) !== 'nothing',
    'as JSON': () => JSON.parse(JSON.stringify(exec.scenario)).name === 'sc' && Object.keys(instance).length === 5 && JSON.parse(JSON.stringify(exec.vu)).metrics.metadata !== undefined,
  });
  if (first) {
    check(null, {
      'tags of run and scenario': () => exec.vu.tags.run === 'r' && tags.own === 's' && tags.scenario === 'sc' && tags.group === '' && !('mine' in tags),
      'set': () => { tags.mine = 'x'; tags.number = 5.25; tags.flag = true; return tags.mine === 'x' && tags.number === '5.25' && tags.flag === 'true' && 'mine' in tags; },
      'assign': () => { Object.assign(exec.vu.tags, { a: 'b', c: 'd' }); return tags.a === 'b' && Object.keys(tags).includes('c'); },
      'delete': () => { delete tags.c; return !('c' in tags) && tags.c === undefined; },
      'wrong values': () => [{}, [1], null, undefined].every((value) => thrown(() => { tags.mine = value; }).includes("the tag 'mine'")) && tags.mine === 'x',
      'cannot be replaced': () => thrown(() => { exec.vu.metrics.tags = {}; }) !== 'nothing' && (exec.vu.tags = { w: 1 }) && tags.w === undefined,
      'group': () => group('g', () => tags.group) === '::g',
      'metadata': () => { const { metadata } = exec.vu.metrics; metadata.trace = 5; return metadata.trace === '5' && JSON.stringify(metadata) === '{"trace":"5"}'; },
      'wrong metadata': () => thrown(() => { exec.vu.metrics.metadata.trace = {}; }).includes("the metadata 'trace'"),
    });
    tagged.add(1);
  } else {
    check(null, { 'tags stay on the VU': () => tags.mine === 'x' && tags.a === 'b' && exec.vu.metrics.metadata.trace === '5' });
    delete tags.mine;
    tagged.add(1);
    tags.mine = 'x';
  }
}
