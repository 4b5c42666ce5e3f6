import { check } from 'k6';
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';
const thrown = (work) => { try { work(); } catch (error) { return error.message; } return 'nothing'; };
const counter = new Counter('my_counter');
const same = new Counter('my_counter');
const gauge = new Gauge('my_gauge');
const rate = new Rate('my_rate');
const trend = new Trend('my_trend', true);
const odd = new Counter('odd_values');
const mistakes = [
  ...['', 'a', '1a', 'a b', 'a.b', 'ä', 'x'.repeat(130)].map((name) => [() => new Counter(name), 'no name of a metric']),
  [() => new Counter(), 'no name of a metric'], [() => new Trend('my_counter'), 'already exists'], [() => new Trend('my_trend'), 'already exists'],
  [() => new Trend('http_req_duration'), 'already exists'], [() => new Trend('http_req_duration', true), 'nothing'],
  [() => new Counter('x'.repeat(129)), 'nothing'], [() => counter.add(1), 'init context'],
].map(([work, wanted]) => thrown(work).includes(wanted));
export default function () {
  const { add } = counter;
  check(null, {
    'mistakes in init': () => mistakes.every(Boolean),
    'in a VU': () => thrown(() => new Counter('late')).includes('init context'),
    'name': () => counter.name === 'my_counter' && JSON.stringify(trend) === '{"name":"my_trend"}' && thrown(() => { counter.name = 'x'; }).includes('read-only'),
    'add': () => add(2) === true && same.add('2.5') === true && counter.add(true) === true && gauge.add(7) && gauge.add(5) && trend.add(7) && trend.add([3]),
    'rate': () => rate.add(true) && rate.add(2) && rate.add(0) && rate.add(false),
    'no numbers': () => [NaN, 'foo', null, undefined, {}, () => 1].every((value) => odd.add(value) === false) && odd.add() === false,
    'tags': () => counter.add(1, { a: 'b', n: 5, f: false }) && counter.add(1, null) && counter.add(1, 'text') && counter.add(1, undefined),
    'tags that are none': () => [{}, [1], null, undefined].every((value) => thrown(() => counter.add(1, { kind: value })).includes("the tag 'kind'")),
  });
}
