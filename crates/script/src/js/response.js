// What a Response makes of what came over the wire, for the scripts that ask for it.
const native = import.meta.native;

export const headers = (response) => headersOf(native.rawHeaders(response, false));
export const cookies = (response) => cookiesOf(native.rawHeaders(response, false));

export function request(response) {
  const [method, body] = native.sent(response);
  return { method, url: response.url, body, headers: headersOf(native.rawHeaders(response, true)) };
}

function headersOf(raw) {
  const headers = {};
  for (const [name, value] of headerPairs(raw)) {
    headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

function cookiesOf(raw) {
  const cookies = {};
  for (const [name, value] of headerPairs(raw)) {
    const pair = name === 'Set-Cookie' && /^\s*([^=;]+)=([^;]*)/.exec(value);
    if (pair) cookies[pair[1].trim()] = [{ name: pair[1].trim(), value: pair[2].trim() }];
  }
  return cookies;
}

// 'content-type: a\ncookie: b\n' as pairs, names as Go writes them (Content-Type).
function headerPairs(raw) {
  return raw.split('\n').filter(Boolean).map((line) => {
    const at = line.indexOf(': ');
    const name = line.slice(0, at).toLowerCase().replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
    return [name, line.slice(at + 2)];
  });
}

// The dotted part of gjson's paths: names, indexes, '#' for a length or for every element, '\' to escape.
export function select(value, path) {
  if (/[|@]|#\(/.test(path)) {
    throw new Error(`json('${path}'): queries and modifiers are not supported yet; use names, indexes and '#'`);
  }
  const parts = path.match(/(\\.|[^.\\])+/g) || [];
  return walk(value, parts.map((part) => part.replace(/\\(.)/g, '$1')), 0);
}

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
