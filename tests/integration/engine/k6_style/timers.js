// Timers of the module and of the global object, repeated ones, and ones that are called off.
import { setTimeout, clearTimeout, setInterval, clearInterval } from 'k6/timers';
import { check } from 'k6';

export const options = { vus: 2, iterations: 6 };

const rest = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

export default async function () {
  const order = [];
  setTimeout(() => order.push('late'), 30);
  setTimeout(() => order.push('early'), 5);
  const never = setTimeout(() => order.push('never'), 10);
  clearTimeout(never);
  await rest(60);
  check(order, { 'in the order of their times': (o) => o.join() === 'early,late' });
  let ticks = 0;
  await new Promise((resolve) => {
    const id = setInterval(() => {
      ticks += 1;
      if (ticks === 3) {
        clearInterval(id);
        resolve();
      }
    }, 10);
  });
  check(ticks, { 'as often as wanted': (n) => n === 3 });
  globalThis.setTimeout((word) => check(word, { 'arguments are handed on': (w) => w === 'word' }), 1, 'word');
}
