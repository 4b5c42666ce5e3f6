import { check } from 'k6';
const texts = [
  'null', ' true ', '0', '-0', '12345678901234567890', '1.7976931348623157e308', '1e400', '-1E-5', '0.1', '123e-7',
  '2147483647', '2147483648', '-2147483648', '9007199254740993', '5e-324', '2.2250738585072011e-308', '8.41e21',
  '""', '"\\u00e9\\ud83d\\ude00\\n\\/"', '"größe 日本 😀"', '"\\ud800"', '[]', '{}', '[1,[2,[3]]]', '\n{ "a" : 1 , "b":[ ] }\t',
  '{"a":1,"a":2}', '{"__proto__":1}', '{"2":"two","10":"ten","1":"one","x":0}', '{"":1}', '{"length":3,"constructor":null}',
  '['.repeat(300) + ']'.repeat(300),
];
const wrong = ['', ' ', '{', '[1,]', '{"a":1,}', "{'a':1}", '01', '+1', '.5', '1.', 'nul', 'NaN', '"\t"', '"\\x"', '[1] 2', 'undefined'];
const same = (key, value) => value;
const seen = (value) => `${Object.is(value, -0)} ${JSON.stringify(value, same)} ${Object.prototype.toString.call(value)}`;
const thrown = (work) => { try { work(); } catch (error) { return `${error.constructor.name}: ${error.message}`; } return 'nothing'; };
export default function () {
  for (const text of texts) {
    check(null, { [text.slice(0, 40)]: () => seen(JSON.parse(text)) === seen(JSON.parse(text, same)) });
  }
  for (const text of wrong) {
    check(null, { [`wrong: ${text}`]: () => {
      const message = thrown(() => JSON.parse(text));
      return message.startsWith('SyntaxError') && message === thrown(() => JSON.parse(text, same));
    } });
  }
  check(null, {
    prototype: () => Object.getPrototypeOf(JSON.parse('{"__proto__":{"a":1}}')) === Object.prototype,
    notText: () => JSON.parse(12) === 12 && JSON.parse(null) === null && thrown(() => JSON.parse(undefined)).startsWith('SyntaxError'),
    revived: () => JSON.parse('[1,2]', (key, value) => (typeof value === 'number' ? value + 1 : value)).join() === '2,3',
  });
}
