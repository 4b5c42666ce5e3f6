const native = import.meta.native;

const hold = (jar, store) => Object.defineProperty(jar, 'store', { value: store });
export class CookieJar {
  constructor() { hold(this, native.jar(false)); }
  cookiesForURL(url) { return native.cookiesFor(this.store, String(url)); }
  set(url, name, value, options) { return native.setCookie(this.store, String(url), String(name), String(value), options || {}); }
  clear(url) { native.clearCookies(this.store, String(url), null); }
  delete(url, name) { native.clearCookies(this.store, String(url), String(name)); }
}

export const {
  get, head, post, put, patch, del, options, request, asyncRequest, batch, file, url, expectedStatuses, setResponseCallback,
} = native;
export const cookieJar = () => hold(Object.create(CookieJar.prototype), native.jar(true));

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
