const native = import.meta.native;

// The fields of a Response are properties of its prototype, as most fields of most responses are never read. Those
// made here are kept on the object once they were read; what the script writes is too.
const PHASES = Object.keys(native.timingsPrototype);
Object.defineProperty(native.timingsPrototype, 'toJSON', {
  value() { return Object.fromEntries(PHASES.map((name) => [name, this[name]])); },
});
const responsePrototype = native.responsePrototype;
let made;
// What is made of a response when a script asks for it comes from a module of its own, as most scripts never ask.
const more = () => (made ??= native.exports('plimsoll:response'));
const keep = (response, name, value) => {
  Object.defineProperty(response, name, { value, writable: true, enumerable: true, configurable: true });
  return value;
};
for (const name of ['headers', 'cookies', 'request']) {
  Object.defineProperty(responsePrototype, name, {
    enumerable: true,
    configurable: true,
    get() { return keep(this, name, more()[name](this)); },
    set(value) { keep(this, name, value); },
  });
}
const FIELDS = Object.keys(responsePrototype);
Object.assign(responsePrototype, {
  json(selector) {
    const data = native.bodyAsJson(this);
    return selector === undefined ? data : more().select(data, selector);
  },
  toJSON() { return Object.fromEntries(FIELDS.map((name) => [name, this[name]])); },
  html() { throw new Error("Response.html() is not supported yet; use json() or match the body as text"); },
  submitForm() { throw new Error("Response.submitForm() is not supported yet; send the form with http.post()"); },
  clickLink() { throw new Error("Response.clickLink() is not supported yet; send the request with http.get()"); },
});
for (const name of ['json', 'toJSON', 'html', 'submitForm', 'clickLink']) {
  Object.defineProperty(responsePrototype, name, { enumerable: false });
}

export class CookieJar {
  cookiesForURL(url) { return native.cookiesFor(String(url)); }
  set(url, name, value, options) { native.setCookie(String(url), name, String(value), options || {}); }
  clear(url) { native.clearCookies(String(url), null); }
  delete(url, name) { native.clearCookies(String(url), name); }
}
const jar = new CookieJar();

export function batch(requests) {
  const isArray = Array.isArray(requests);
  const keys = Object.keys(requests);
  const rows = keys.map((key) => {
    const row = requests[key];
    if (typeof row === 'string') return ['GET', row, null, undefined];
    if (Array.isArray(row)) return [row[0], row[1], row[2], row[3]];
    return [row.method || 'GET', row.url, row.body, row.params];
  });
  const responses = native.batch(rows);
  if (isArray) return responses;
  return Object.fromEntries(keys.map((key, index) => [key, responses[index]]));
}

export const get = native.get;
export const head = native.head;
export const post = native.post;
export const put = native.put;
export const patch = native.patch;
export const del = native.del;
export const options = native.options;
export const request = native.request;
export const asyncRequest = native.asyncRequest;
export const url = (strings, ...values) => ({
  url: strings.reduce((text, part, index) => text + values[index - 1] + part),
  name: strings.join('${}'),
});
export const cookieJar = () => jar;
export const expectedStatuses = (...ranges) => ({
  expected: ranges.map((range) => (typeof range === 'number' ? [range, range] : [range.min, range.max])),
});
export const setResponseCallback = (callback) => native.setExpected(callback === null ? null : callback.expected);

export default {
  get, head, post, put, patch, del, options, request, asyncRequest, batch, url, cookieJar, CookieJar, expectedStatuses,
  setResponseCallback,
};
