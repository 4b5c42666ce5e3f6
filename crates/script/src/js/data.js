import { sharedView } from 'plimsoll:shared-array';

const native = import.meta.native;
const AsyncFunction = (async () => {}).constructor;

export class SharedArray {
  constructor(name, make) {
    if (!native.inInit()) {
      throw new Error("a SharedArray must be made in the init context; make it at the top of the script");
    }
    const key = name === undefined ? '' : String(name);
    if (typeof make !== 'function') {
      throw new TypeError(`SharedArray '${key}' wants a function as its second argument: new SharedArray('name', () => [ … ])`);
    }
    if (key === '') throw new TypeError("a SharedArray needs a name: new SharedArray('name', () => [ … ])");
    if (make instanceof AsyncFunction) {
      throw new TypeError(`SharedArray '${key}' has an asynchronous function, which it does not support; await the data before it`);
    }
    return sharedView(native.find(key) ?? native.keep(key, elementsOf(key, make())));
  }
}

// Each element as JSON; what JSON cannot hold is null, as it is inside of arrays.
function elementsOf(name, made) {
  if (!Array.isArray(made)) throw new TypeError(`SharedArray '${name}': its function must return an array`);
  return made.map((element) => JSON.stringify(element) ?? 'null');
}

export default { SharedArray };
