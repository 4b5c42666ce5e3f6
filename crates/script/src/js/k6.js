const native = import.meta.native;
const AsyncFunction = (async () => {}).constructor;

export const check = native.check;
export const sleep = native.sleep;

export function group(name, body) {
  if (typeof body !== 'function') {
    throw new TypeError("group() wants a function as its second argument: group('name', () => { … })");
  }
  if (body instanceof AsyncFunction) {
    throw new TypeError(`group '${name}' has an asynchronous function, which group() does not support; await inside the group's caller instead`);
  }
  const outer = native.enterGroup(String(name));
  const started = native.now();
  try {
    return body();
  } finally {
    native.leaveGroup(outer, native.now() - started);
  }
}

// Makes Math.random a generator of its own (mulberry32), whose 32 bits of state are mixed from all bits of the seed.
export function randomSeed(seed) {
  const whole = Math.trunc(Number(seed)) || 0;
  let state = (whole ^ Math.imul(Math.floor(whole / 4294967296), 0x9e3779b1)) >>> 0;
  Math.random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function fail(message) {
  throw new Error(message === undefined ? 'fail() was called' : String(message));
}

export default { check, fail, group, randomSeed, sleep };
