const native = import.meta.native;

// The fields of a Response are properties of its prototype, as most fields of most responses are never read.
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

const hold = (jar, store) => Object.defineProperty(jar, 'store', { value: store });
export class CookieJar {
  constructor() { hold(this, native.jar(false)); }
  cookiesForURL(url) { return native.cookiesFor(this.store, String(url)); }
  set(url, name, value, options) { return native.setCookie(this.store, String(url), String(name), String(value), options || {}); }
  clear(url) { native.clearCookies(this.store, String(url), null); }
  delete(url, name) { native.clearCookies(this.store, String(url), String(name)); }
}

export function batch(requests) {
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

export const { get, head, post, put, patch, del, options, request, asyncRequest, file } = native;
export const url = (strings, ...values) => ({
  url: strings.reduce((text, part, index) => text + values[index - 1] + part),
  name: strings.join('${}'),
});
export const cookieJar = () => hold(Object.create(CookieJar.prototype), native.jar(true));
export const expectedStatuses = (...ranges) => ({
  expected: ranges.map((range) => (typeof range === 'number' ? [range, range] : [range.min, range.max])),
});
export const setResponseCallback = (callback) => native.setExpected(callback === null ? null : callback.expected);

export const TLS_1_0 = 'tls1.0';
export const TLS_1_1 = 'tls1.1';
export const TLS_1_2 = 'tls1.2';
export const TLS_1_3 = 'tls1.3';
export const OCSP_STATUS_GOOD = 'good';
export const OCSP_STATUS_REVOKED = 'revoked';
export const OCSP_STATUS_SERVER_FAILED = 'server_failed';
export const OCSP_STATUS_UNKNOWN = 'unknown';
export const OCSP_REASON_UNSPECIFIED = 'unspecified';
export const OCSP_REASON_KEY_COMPROMISE = 'key_compromise';
export const OCSP_REASON_CA_COMPROMISE = 'ca_compromise';
export const OCSP_REASON_AFFILIATION_CHANGED = 'affiliation_changed';
export const OCSP_REASON_SUPERSEDED = 'superseded';
export const OCSP_REASON_CESSATION_OF_OPERATION = 'cessation_of_operation';
export const OCSP_REASON_CERTIFICATE_HOLD = 'certificate_hold';
export const OCSP_REASON_REMOVE_FROM_CRL = 'remove_from_crl';
export const OCSP_REASON_PRIVILEGE_WITHDRAWN = 'privilege_withdrawn';
export const OCSP_REASON_AA_COMPROMISE = 'aa_compromise';

export default {
  get, head, post, put, patch, del, options, request, asyncRequest, batch, file, url, cookieJar, CookieJar, expectedStatuses,
  setResponseCallback, TLS_1_0, TLS_1_1, TLS_1_2, TLS_1_3, OCSP_STATUS_GOOD, OCSP_STATUS_REVOKED, OCSP_STATUS_SERVER_FAILED,
  OCSP_STATUS_UNKNOWN, OCSP_REASON_UNSPECIFIED, OCSP_REASON_KEY_COMPROMISE, OCSP_REASON_CA_COMPROMISE,
  OCSP_REASON_AFFILIATION_CHANGED, OCSP_REASON_SUPERSEDED, OCSP_REASON_CESSATION_OF_OPERATION, OCSP_REASON_CERTIFICATE_HOLD,
  OCSP_REASON_REMOVE_FROM_CRL, OCSP_REASON_PRIVILEGE_WITHDRAWN, OCSP_REASON_AA_COMPROMISE,
};
