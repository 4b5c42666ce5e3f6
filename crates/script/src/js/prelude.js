// The globals of a script. `native` holds the functions of the host; what many scripts never read is made when it is first read.
export default function (native, globals) {
  const parse = JSON.parse;
  JSON.parse = (text, reviver) => (
    reviver === undefined && typeof text === 'string' ? native.parseJson(text) : parse(text, reviver)
  );

  function later(name, make) {
    const settle = (value) => {
      Object.defineProperty(globals, name, { value, writable: true, enumerable: true, configurable: true });
      return value;
    };
    Object.defineProperty(globals, name, { enumerable: true, configurable: true, get: () => settle(make()), set: settle });
  }

  const show = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? String(value));
  later('console', () => Object.fromEntries(['log', 'debug', 'info', 'warn', 'error'].map(
    (level) => [level, (...values) => native.log(level.toUpperCase(), values.map(show).join(' '))],
  )));
  later('TextEncoder', () => native.exports('plimsoll:text').TextEncoder);
  later('TextDecoder', () => native.exports('plimsoll:text').TextDecoder);
  later('crypto', () => native.exports('plimsoll:web-crypto').crypto);
  for (const name of ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval']) {
    later(name, () => native.exports('k6/timers')[name]);
  }
  later('__ENV', native.env);
  globals.open = native.open;
  globals.__VU = native.vu;
  globals.__ITER = 0;
}
