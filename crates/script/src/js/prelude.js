// The k6 modules as far as they are JavaScript. `native` holds the functions of the host; every module's
// object lands in globalThis.__k6 under its name, where the module sources take it from.
export default function (native) {
  const parse = JSON.parse;
  JSON.parse = (text, reviver) => (
    reviver === undefined && typeof text === 'string' ? native.parseJson(text) : parse(text, reviver)
  );

  // The fields of a Response are properties of its prototype, as most fields of most responses are never read. Those
  // made here are kept on the object once they were read; what the script writes is too.
  const PHASES = Object.keys(native.timingsPrototype);
  Object.defineProperty(native.timingsPrototype, 'toJSON', {
    value() { return Object.fromEntries(PHASES.map((name) => [name, this[name]])); },
  });
  const responsePrototype = native.responsePrototype;
  const FIELDS = Object.keys(responsePrototype);
  Object.assign(responsePrototype, {
    json(selector) {
      if (selector === undefined) return native.bodyAsJson(this);
      const path = String(selector);
      if (/[|@*?!{[\\]|#[^.]/.test(path)) return native.selectJson(this, path);
      let data;
      try { data = native.bodyAsJson(this); } catch (error) { if (error instanceof SyntaxError) return undefined; throw error; }
      return walk(data, path.split('.'), 0);
    },
    toJSON() { return Object.fromEntries(FIELDS.map((name) => [name, this[name]])); },
    html() { throw new Error("Response.html() is not supported yet; use json() or match the body as text"); },
    submitForm() { throw new Error("Response.submitForm() is not supported yet; send the form with http.post()"); },
    clickLink() { throw new Error("Response.clickLink() is not supported yet; send the request with http.get()"); },
  });
  for (const name of ['json', 'toJSON', 'html', 'submitForm', 'clickLink']) {
    Object.defineProperty(responsePrototype, name, { enumerable: false });
  }

  // The plain part of gjson's paths: names, indexes, '#' for a length or for every element.
  function walk(value, parts, at) {
    for (; at < parts.length; at += 1) {
      if (value === null || typeof value !== 'object') return undefined;
      const part = parts[at];
      if (part === '#' && Array.isArray(value)) {
        if (at === parts.length - 1) return value.length;
        return value.map((element) => walk(element, parts, at + 1)).filter((element) => element !== undefined);
      }
      value = Object.prototype.hasOwnProperty.call(value, part) ? value[part] : undefined;
    }
    return value;
  }

  class CookieJar {
    constructor() { hold(this, native.jar(false)); }
    cookiesForURL(url) { return native.cookiesFor(this.store, String(url)); }
    set(url, name, value, options) { return native.setCookie(this.store, String(url), String(name), String(value), options || {}); }
    clear(url) { native.clearCookies(this.store, String(url), null); }
    delete(url, name) { native.clearCookies(this.store, String(url), String(name)); }
  }
  const hold = (jar, store) => Object.defineProperty(jar, 'store', { value: store });

  function batch(requests) {
    const isArray = Array.isArray(requests);
    const keys = Object.keys(requests);
    const rows = keys.map((key) => {
      const row = requests[key];
      if (typeof row === 'string') return ['GET', row, null, undefined];
      if (Array.isArray(row)) return [row[0], row[1], row[2], row[3]];
      return [row.method || 'GET', row.name === undefined ? row.url : row, row.body, row.params];
    });
    const responses = native.batch(rows);
    if (isArray) return responses;
    return Object.fromEntries(keys.map((key, index) => [key, responses[index]]));
  }

  const http = {
    get: native.get,
    head: native.head,
    post: native.post,
    put: native.put,
    patch: native.patch,
    del: native.del,
    options: native.options,
    request: native.request,
    batch,
    file: native.file,
    url: (strings, ...values) => ({
      url: strings.reduce((text, part, index) => text + values[index - 1] + part),
      name: strings.join('${}'),
    }),
    cookieJar: () => hold(Object.create(CookieJar.prototype), native.jar(true)),
    CookieJar,
    expectedStatuses: (...ranges) => ({
      expected: ranges.map((range) => (typeof range === 'number' ? [range, range] : [range.min, range.max])),
    }),
    setResponseCallback: (callback) => native.setExpected(callback === null ? null : callback.expected),
  };
  const constants = (prefix, words, value) => words.split(' ').forEach((word) => { http[prefix + word] = value(word.toLowerCase()); });
  constants('TLS_', '1_0 1_1 1_2 1_3', (version) => `tls${version.replace('_', '.')}`);
  constants('OCSP_STATUS_', 'GOOD REVOKED SERVER_FAILED UNKNOWN', (status) => status);
  constants('OCSP_REASON_', 'UNSPECIFIED KEY_COMPROMISE CA_COMPROMISE AFFILIATION_CHANGED SUPERSEDED CESSATION_OF_OPERATION '
    + 'CERTIFICATE_HOLD REMOVE_FROM_CRL PRIVILEGE_WITHDRAWN AA_COMPROMISE', (reason) => reason);

  function group(name, body) {
    if (body.constructor.name === 'AsyncFunction') {
      throw new Error(`group '${name}' has an asynchronous function; await inside the group's caller instead`);
    }
    const outer = native.enterGroup(String(name));
    const started = native.now();
    try {
      return body();
    } finally {
      native.leaveGroup(outer, native.now() - started);
    }
  }

  // A seeded generator (mulberry32), for randomSeed(); Math.random is its own otherwise.
  function randomSeed(seed) {
    let state = seed >>> 0;
    Math.random = () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), state | 1);
      mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
    };
  }

  const core = {
    check: native.check,
    group,
    randomSeed,
    fail: (message) => { throw new Error(message === undefined ? 'fail() was called' : String(message)); },
    sleep: (seconds) => native.sleep(Number(seconds)),
  };

  function metricClass(kind) {
    return class {
      constructor(name, isTime) {
        this.name = name;
        this.id = native.metric(kind, String(name), !!isTime);
      }
      add(value, tags) { native.addSample(this.id, value, tags); }
    };
  }

  class SharedArray {
    constructor(name, make) {
      let shared = native.sharedArray(name);
      if (shared === null) {
        const made = make();
        if (!Array.isArray(made)) throw new Error(`SharedArray '${name}': its function must return an array`);
        shared = native.keepSharedArray(name, made.map((element) => JSON.stringify(element)));
      }
      const [length, at] = shared;
      const isIndex = (key) => typeof key === 'string' && /^\d+$/.test(key) && Number(key) < length;
      return new Proxy([], {
        get(target, key, receiver) {
          if (key === 'length') return length;
          return isIndex(key) ? at(Number(key)) : Reflect.get(target, key, receiver);
        },
        has: (target, key) => isIndex(key) || Reflect.has(target, key),
        set() { throw new TypeError('a SharedArray is read-only'); },
      });
    }
  }

  const lazily = (names, read) => {
    const object = {};
    for (const name of names) Object.defineProperty(object, name, { enumerable: true, get: () => read(name) });
    return object;
  };
  const execution = {
    instance: lazily(['currentTestRunDuration'], native.fact),
    scenario: lazily(['name', 'executor', 'iterationInInstance', 'iterationInTest'], native.fact),
    vu: lazily(['idInInstance', 'idInTest', 'iterationInInstance', 'iterationInScenario'], native.fact),
    test: {
      abort: (message) => native.abortTest(message === undefined ? 'the script aborted the test' : String(message)),
      fail: (message) => native.abortTest(String(message)),
      get options() { return JSON.parse(native.fact('options')); },
    },
  };

  const show = (value) => (typeof value === 'string' ? value : JSON.stringify(value) ?? String(value));
  globalThis.console = Object.fromEntries(['log', 'debug', 'info', 'warn', 'error'].map(
    (level) => [level, (...values) => native.log(level, values.map(show).join(' '))],
  ));
  globalThis.open = native.open;
  globalThis.__VU = native.fact('idInTest');
  globalThis.__ITER = 0;
  globalThis.__ENV = native.env;

  Object.defineProperty(globalThis, '__k6', {
    value: {
      'k6': core,
      'k6/http': http,
      'k6/metrics': { Counter: metricClass('counter'), Gauge: metricClass('gauge'), Rate: metricClass('rate'), Trend: metricClass('trend') },
      'k6/data': { SharedArray },
      'k6/execution': execution,
    },
  });
}
