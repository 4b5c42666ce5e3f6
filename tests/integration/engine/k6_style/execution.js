// What a script can know of its run, scenario and VU while it runs.
import exec from 'k6/execution';
import { check, sleep } from 'k6';

export const options = { scenarios: { lap: { executor: 'per-vu-iterations', vus: 2, iterations: 4 } }, tags: { track: 'north' } };

export function setup() {
  return { began: Date.now(), stage: 'warm' };
}

export default function (data) {
  sleep(0.02);
  check(exec, {
    'the data of setup is here': () => data.stage === 'warm' && data.began <= Date.now(),
    'a VU has a number': ({ vu }) => vu.idInTest >= 1 && vu.idInTest <= 2 && vu.idInTest === __VU,
    'a VU counts its iterations': ({ vu }) => vu.iterationInInstance === __ITER && vu.iterationInScenario === __ITER,
    'a scenario has a name and an executor': ({ scenario }) => scenario.name === 'lap' && scenario.executor === 'per-vu-iterations',
    'an iteration of a scenario has a number': ({ scenario }) => scenario.iterationInTest >= 0 && scenario.iterationInTest < 8,
    'progress is a share': ({ scenario }) => scenario.progress >= 0 && scenario.progress <= 1,
    'VUs are counted': ({ instance }) => instance.vusActive >= 1 && instance.vusInitialized === 2,
    'time goes on': ({ instance }) => instance.currentTestRunDuration > 0,
    'the options are known': ({ test }) => test.options.scenarios.lap.vus === 2 && test.options.tags.track === 'north',
  });
}

export function teardown(data) {
  if (data.stage !== 'warm') {
    throw new Error('the data of setup is not what it was');
  }
}
