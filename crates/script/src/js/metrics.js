const native = import.meta.native;

export class Counter {
  constructor(name = '', isTime = false) { native.define(this, 'counter', String(name), !!isTime); }
}
export class Gauge {
  constructor(name = '', isTime = false) { native.define(this, 'gauge', String(name), !!isTime); }
}
export class Rate {
  constructor(name = '', isTime = false) { native.define(this, 'rate', String(name), !!isTime); }
}
export class Trend {
  constructor(name = '', isTime = false) { native.define(this, 'trend', String(name), !!isTime); }
}

export default { Counter, Gauge, Rate, Trend };
