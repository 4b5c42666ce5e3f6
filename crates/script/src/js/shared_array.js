// An array whose elements are read one by one from memory that all VUs share, and that nothing can change.
const immutable = () => { throw new TypeError('a SharedArray is immutable; copy what you want to change: [...array]'); };
const indexOf = (key, length) => {
  const index = typeof key === 'string' ? key >>> 0 : length;
  return index < length && String(index) === key ? index : -1;
};

export function sharedView([length, at]) {
  return new Proxy([], {
    get(target, key, receiver) {
      if (key === 'length') return length;
      const index = indexOf(key, length);
      return index < 0 ? Reflect.get(target, key, receiver) : at(index);
    },
    has: (target, key) => indexOf(key, length) >= 0 || Reflect.has(target, key),
    ownKeys: () => [...Array.from({ length }, (_, index) => String(index)), 'length'],
    getOwnPropertyDescriptor(target, key) {
      if (key === 'length') return { value: length, writable: true, enumerable: false, configurable: false };
      const index = indexOf(key, length);
      return index < 0 ? undefined : { value: at(index), writable: true, enumerable: true, configurable: true };
    },
    set: immutable,
    deleteProperty: immutable,
    defineProperty: immutable,
    preventExtensions: immutable,
    setPrototypeOf: immutable,
  });
}
