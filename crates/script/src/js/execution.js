const native = import.meta.native;

// An object whose properties are asked of the host whenever they are read.
function facts(part, names) {
  const object = {};
  for (const name of names) {
    const key = `${part}.${name}`;
    Object.defineProperty(object, name, { enumerable: true, get: () => native.fact(key) });
  }
  return object;
}

// Tags or metadata, which the script may set one by one.
function pairs(ofTags) {
  return new Proxy({}, {
    get: (target, key) => (typeof key === 'string' ? native.list(ofTags)[key] : undefined),
    has: (target, key) => key in native.list(ofTags),
    ownKeys: () => Object.keys(native.list(ofTags)),
    getOwnPropertyDescriptor(target, key) {
      const value = native.list(ofTags)[key];
      return value === undefined ? undefined : { value, writable: true, enumerable: true, configurable: true };
    },
    set(target, key, value) {
      native.set(ofTags, String(key), value);
      return true;
    },
    deleteProperty(target, key) {
      native.remove(ofTags, String(key));
      return true;
    },
  });
}

export const instance = facts('instance', [
  'currentTestRunDuration', 'iterationsCompleted', 'iterationsInterrupted', 'vusActive', 'vusInitialized',
]);
export const scenario = facts('scenario', [
  'name', 'executor', 'startTime', 'progress', 'iterationInInstance', 'iterationInTest',
]);
export const vu = facts('vu', ['idInInstance', 'idInTest', 'iterationInInstance', 'iterationInScenario']);

const metrics = {};
Object.defineProperty(metrics, 'tags', { enumerable: true, value: pairs(true) });
Object.defineProperty(metrics, 'metadata', { enumerable: true, value: pairs(false) });
Object.defineProperty(vu, 'metrics', { enumerable: true, value: metrics });
Object.defineProperty(vu, 'tags', {
  enumerable: true,
  get: () => metrics.tags,
  set() { native.warn("exec.vu.tags cannot be replaced, so that nothing changed; set its tags: Object.assign(exec.vu.metrics.tags, { name: 'value' })"); },
});

export const test = {
  abort: (message) => native.abort(message === undefined ? 'the script aborted the test' : String(message)),
  fail: (message) => native.fail(message === undefined ? 'test marked as failed' : `test marked as failed: ${message}`),
  get options() { return native.options(); },
};

export default { instance, scenario, test, vu };
