// Types, enums, interfaces and generics are taken off.
import http, { type Response } from 'k6/http';
import { check } from 'k6';
import { Trend } from 'k6/metrics';
import { total, type Line } from './data/prices.ts';

enum Size { Small = 1, Large = 4 }

interface Order { id: number; lines: Line[]; note?: string }

const sums: Trend = new Trend('order_sum');

export const options = { vus: 1, iterations: 10, thresholds: { order_sum: ['min >= 10'] } };

function first<T>(list: readonly T[]): T | undefined {
  return list[0];
}

export default function (): void {
  const order: Order = { id: __ITER, lines: [{ price: 10, count: Size.Small }, { price: 2.5, count: Size.Large }] };
  const response: Response = http.post(`${__ENV.URL}/echo`, JSON.stringify(order));
  const seen = JSON.parse(response.json('body') as string) as Order;
  sums.add(total(seen.lines));
  check(seen, {
    'the order came': (o: Order) => o.id === __ITER && o.lines.length === 2,
    'its sum is right': (o: Order): boolean => total(o.lines) === 20,
    'its first line': (o: Order) => first(o.lines)!.price === 10,
  });
}
