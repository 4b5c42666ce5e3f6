// What JMeter's elements do, of which the script has what it uses. Each begins with its name; what it needs is called in it.
//: NEXT
const NEXT = {}; // is thrown to begin the next iteration
//: thread
// The variables of a user in one thread group: they stay from iteration to iteration.
const threads = {};
function thread(name, data) {
  if (data && data.properties) Object.assign(properties, data.properties);
  if (!threads[name]) threads[name] = defined();
  threads[name].random = 0;
  return threads[name];
}
//: properties
const properties = {};
//: property
// A property of JMeter is a variable here: -J name=value is -e name=value, with _ for each sign that is no letter or digit.
function property(name, otherwise) {
  if (properties[name] !== undefined) return properties[name];
  const given = __ENV[name.replace(/\W/g, '_')];
  return given === undefined ? otherwise : given;
}
//: setProperty
function setProperty(name, value) {
  properties[name] = value;
  return '';
}
//: value
// A variable that nobody set stays as JMeter writes it.
function value(vars, name) {
  return vars[name] === undefined ? `\${${name}}` : vars[name];
}
//: keep
function keep(vars, name, text) {
  vars[name] = String(text);
  return vars[name];
}
//: plain
// A variable within a condition: a number where it looks like one.
function plain(text) {
  if (text === 'true' || text === 'false') return text === 'true';
  return text.trim() !== '' && !Number.isNaN(Number(text)) ? Number(text) : text;
}
//: number
// Also of sums such as "1000 + 500".
function number(text) {
  return String(text).split('+').reduce((sum, part) => sum + (Number(part) || 0), 0);
}
//: uuid
function uuid() {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (sign) => {
    const drawn = Math.floor(Math.random() * 16);
    return (sign === 'x' ? drawn : (drawn % 4) + 8).toString(16);
  });
}
//: random
function random(low, high) {
  return String(Number(low) + Math.floor(Math.random() * (Number(high) - Number(low) + 1)));
}
//: randomText
function randomText(length, signs = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789') {
  let text = '';
  for (let at = 0; at < Number(length); at += 1) text += signs[Math.floor(Math.random() * signs.length)];
  return text;
}
//: timeText
function timeText(format = '') {
  const now = new Date();
  if (format === '') return String(now.getTime());
  if (format[0] === '/') return String(Math.floor(now.getTime() / Number(format.slice(1))));
  const two = (one, width = 2) => String(one).padStart(width, '0');
  const parts = {
    yyyy: now.getFullYear(), yy: two(now.getFullYear() % 100), MM: two(now.getMonth() + 1), dd: two(now.getDate()),
    HH: two(now.getHours()), hh: two(now.getHours() % 12 || 12), mm: two(now.getMinutes()), ss: two(now.getSeconds()), SSS: two(now.getMilliseconds(), 3),
  };
  return format.replace(/'([^']*)'|yyyy|yy|MM|dd|HH|hh|mm|ss|SSS/g, (found, quoted) => (quoted === undefined ? parts[found] : quoted));
}
//: count
function count(vars) {
  vars.__counter = (vars.__counter || 0) + 1;
  return String(vars.__counter);
}
//: countUp
function countUp(vars, name, start, step, end, format) {
  const key = `__counter ${name}`;
  const next = vars[key] === undefined ? Number(start) || 0 : vars[key] + (Number(step) || 1);
  vars[key] = end !== '' && next > Number(end) ? Number(start) || 0 : next;
  vars[name] = String(vars[key]).padStart(format.length, '0');
}
//: encoded
// As a form has it.
function encoded(text) {
  return encodeURIComponent(text).replace(/%20/g, '+').replace(/[!'()~]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}
//: pairs
function pairs(list) {
  return list.map(([name, text, encode]) => (text === null ? name : `${encode ? encoded(name) : name}=${encode ? encoded(text) : text}`)).join('&');
}
//: withQuery
function withQuery(path, list) {
  return path + (path.includes('?') ? '&' : '?') + pairs(list);
}
//: rows
// The rows of a CSV file, each a value for every name.
function rows(file, delimiter, names, hasHeader, isQuoted) {
  return new SharedArray(file, () => {
    const lines = open(file).replace(/^\uFEFF/, '').split(/\r?\n/).filter((line) => line !== '');
    const header = hasHeader ? fields(lines.shift() || '', delimiter, isQuoted) : [];
    return lines.map((line) => {
      const row = {};
      fields(line, delimiter, isQuoted).forEach((text, at) => {
        const name = names.length ? names[at] : header[at];
        if (name) row[name.trim()] = text;
      });
      return row;
    });
  });
}
//: fields
function fields(line, delimiter, isQuoted) {
  if (!isQuoted) return line.split(delimiter);
  const found = [''];
  let within = false;
  for (let at = 0; at < line.length; at += 1) {
    if (line[at] === '"') {
      if (within && line[at + 1] === '"') {
        found[found.length - 1] += '"';
        at += 1;
      } else within = !within;
    } else if (!within && line.startsWith(delimiter, at)) {
      found.push('');
      at += delimiter.length - 1;
    } else found[found.length - 1] += line[at];
  }
  return found;
}
//: nextRow
// All users take one row after the other; within a loop, or where the plan says so, each user takes them for itself.
function nextRow(vars, list, how, again = true) {
  if (!list.length) return;
  const key = `__row ${list.length} ${Object.keys(list[0])}`;
  if (how === 'vu') vars[key] = vars[key] === undefined ? 0 : vars[key] + 1;
  const at = how === 'vu' ? vars[key] : exec.scenario.iterationInTest;
  if (!again && at >= list.length) throw NEXT;
  Object.assign(vars, list[at % list.length]);
}
//: pause
function pause(ms) {
  if (ms > 0) sleep(ms / 1000);
}
//: gaussian
function gaussian() {
  return Math.sqrt(-2 * Math.log(1 - Math.random())) * Math.cos(2 * Math.PI * Math.random());
}
//: poisson
// Of a large mean the normal one, as its terms would underflow.
function poisson(mean) {
  if (mean > 500) return Math.max(0, Math.round(mean + Math.sqrt(mean) * gaussian()));
  const least = Math.exp(-mean);
  let drawn = 0;
  for (let product = Math.random(); product > least; product *= Math.random()) drawn += 1;
  return drawn;
}
//: pace
// A constant throughput timer: so many requests a minute of all users together.
function pace(vars, timer, perMinute, users) {
  const key = `__pace ${timer}`;
  const now = Date.now();
  const gap = perMinute > 0 ? (60000 * users) / perMinute : 0;
  const next = vars[key] === undefined ? now : Math.max(now, vars[key] + gap);
  vars[key] = next;
  pause(next - now);
}
//: once
function once(vars, controller) {
  const key = `__once ${controller}`;
  const isFirst = !vars[key];
  vars[key] = true;
  return isFirst;
}
//: atMost
function atMost(vars, controller, most) {
  const key = `__done ${controller}`;
  vars[key] = (vars[key] || 0) + 1;
  return vars[key] <= most;
}
//: share
// As JMeter's throughput controller: evenly, not by chance.
function share(vars, controller, percent) {
  const key = `__share ${controller}`;
  const seen = vars[key] || { passes: 0, done: 0 };
  const runs = (100 * seen.done + 50) / (seen.passes + 1) < percent;
  vars[key] = { passes: seen.passes + 1, done: seen.done + (runs ? 1 : 0) };
  return runs;
}
//: inTurn
function inTurn(vars, controller, parts) {
  const key = `__turn ${controller}`;
  const at = vars[key] || 0;
  vars[key] = (at + 1) % parts.length;
  parts[at]();
}
//: anyOne
function anyOne(vars, controller, parts) {
  parts[Math.floor(Math.random() * parts.length)]();
}
//: inAnyOrder
function inAnyOrder(vars, controller, parts) {
  const left = [...parts];
  while (left.length) left.splice(Math.floor(Math.random() * left.length), 1)[0]();
}
//: choose
// By its number or its name; without a match the first, or the one called "default".
function choose(wanted, parts) {
  const at = /^\d+$/.test(wanted) ? Number(wanted) : parts.findIndex(([name]) => name === wanted);
  const part = parts[at] || parts.find(([name]) => name === 'default') || parts[0];
  part[1]();
}
//: bodyOf
function bodyOf(answer) {
  return typeof answer.body === 'string' ? answer.body : '';
}
//: headersOf
function headersOf(answer) {
  return Object.entries(answer.headers).map(([name, text]) => `${name}: ${text}`).join('\n');
}
//: pattern
// A regular expression of Java: its flags at the beginning are those of JavaScript. Header names have any case.
function pattern(text, flags = '') {
  const found = /^\(\?([ims]+)\)/.exec(text);
  const all = new Set(`m${flags}${found ? found[1] : ''}`);
  return new RegExp(found ? text.slice(found[0].length) : text, [...all].join(''));
}
//: contains
function contains(text, wanted) {
  return pattern(wanted).test(text);
}
//: matchesWhole
function matchesWhole(text, wanted) {
  return new RegExp(`^(?:${wanted.replace(/^\(\?[ims]+\)/, '')})$`, 's').test(text);
}
//: matches
// All that a pattern finds, each as the template says ($1$ is the first group).
function matches(text, wanted, template) {
  const isHeaders = text.includes(': ');
  return [...text.matchAll(pattern(wanted, isHeaders && /^[\w-]+: /.test(wanted) ? 'gi' : 'g'))].map((found) =>
    template.replace(/\$(\d+)\$/g, (whole, group) => (found[Number(group)] === undefined ? '' : found[Number(group)])));
}
//: between
function between(text, left, right) {
  const found = [];
  for (let at = text.indexOf(left); at >= 0; at = text.indexOf(left, at + 1)) {
    const end = right === '' ? text.length : text.indexOf(right, at + left.length);
    if (end < 0) break;
    found.push(text.slice(at + left.length, end));
  }
  return found;
}
//: inJson
// All that a path finds in an answer: steps are keys, places, all of a list, or anything below.
function inJson(answer, steps) {
  let found;
  try {
    found = [JSON.parse(bodyOf(answer))];
  } catch {
    return [];
  }
  for (const [kind, wanted] of steps) {
    found = found.flatMap((one) => {
      if (one === null || typeof one !== 'object') return [];
      if (kind === 'where') return Object.values(one).filter((each) => wanted(each));
      if (kind === 'deep') return below(one);
      if (kind === 'all') return Object.values(one);
      const key = kind === 'index' && wanted < 0 ? one.length + wanted : wanted;
      if (kind === 'index' && !Array.isArray(one)) return [];
      return Object.prototype.hasOwnProperty.call(one, key) ? [one[key]] : [];
    });
  }
  const isOne = !steps.some(([kind]) => kind === 'deep' || kind === 'all' || kind === 'where');
  return isOne && found.length && Array.isArray(found[0]) ? found[0] : found;
}
//: below
function below(one) {
  if (one === null || typeof one !== 'object') return [];
  return [one, ...Object.values(one).flatMap(below)];
}
//: textOf
function textOf(found) {
  return typeof found === 'string' ? found : JSON.stringify(found);
}
//: extract
// Keeps the match with that number: 0 is any, -1 all of them as name_1, name_2, … and name_matchNr.
function extract(vars, name, found, which, otherwise) {
  const texts = found.map(textOf);
  const wanted = Number(which);
  if (wanted < 0) {
    texts.forEach((text, at) => {
      vars[`${name}_${at + 1}`] = text;
    });
    for (let at = texts.length + 1; vars[`${name}_${at}`] !== undefined; at += 1) delete vars[`${name}_${at}`];
    vars[`${name}_matchNr`] = String(texts.length);
    if (!texts.length && otherwise !== undefined) vars[name] = otherwise;
    return;
  }
  const at = wanted === 0 ? Math.floor(Math.random() * texts.length) : wanted - 1;
  if (texts[at] !== undefined) vars[name] = texts[at];
  else if (otherwise !== undefined) vars[name] = otherwise;
}
//: request
// A sampler: fails from status 400 on, or where one of its assertions does.
function request(vars, { name, method, path, body = null, headers = {}, redirects = 10, timeout, ignoresStatus = false }, then) {
  const parameters = { headers, redirects, tags: { name } };
  if (timeout) parameters.timeout = timeout;
  if (!KEEPS_COOKIES) parameters.jar = new http.CookieJar();
  const answer = http.request(method, BASE_URL + sendable(path), body, parameters);
  const checks = {};
  if (!ignoresStatus) checks['status is below 400'] = answer.status > 0 && answer.status < 400;
  if (then) then(answer, checks);
  let isGood = true;
  for (const [what, holds] of Object.entries(checks)) {
    isGood = check(answer, { [what]: () => Boolean(holds) }) && isGood;
  }
  vars.lastFailed = !isGood;
  vars['JMeterThread.last_sample_ok'] = String(isGood);
  if (!isGood && vars.__onFailure === 'next') throw NEXT;
}
//: sendable
// With a slash at its beginning, and what no URL may hold in percent.
function sendable(path) {
  const rooted = path.startsWith('/') ? path : `/${path}`;
  return encodeURI(rooted).replace(/%25(?=[0-9a-fA-F]{2})/g, '%').replace(/%5B/g, '[').replace(/%5D/g, ']');
}
