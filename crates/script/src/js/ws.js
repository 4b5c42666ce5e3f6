const native = import.meta.native;

class Socket {
  #number;
  #handlers = {};
  #timers = [];
  #pings = 0;
  #closed = false;

  // Begins to open the socket.
  static #open(url, params) {
    const socket = new Socket();
    socket.#number = native.open(url, undefined, params);
    return socket;
  }

  static run(url, params, setUp) {
    const socket = Socket.#open(url, params);
    const told = native.next(socket.#number);
    const response = told[told.length - 1];
    if (told[0] !== 'open') return response;
    try {
      setUp(socket);
      socket.#tell('open');
      while (!socket.#closed) socket.#turn();
    } finally {
      if (!socket.#closed) native.close(socket.#number, 1001, '');
      native.leave(socket.#number);
    }
    return response;
  }

  on(type, handler) {
    if (typeof handler !== 'function') throw new TypeError(`socket.on('${String(type)}') wants a function as its second argument`);
    (this.#handlers[type] ??= []).push(handler);
  }

  send(message) { if (!this.#closed) native.send(this.#number, String(message)); }

  sendBinary(message) {
    native.checkBuffer(message);
    if (!this.#closed) native.send(this.#number, message);
  }

  ping() {
    this.#pings += 1;
    if (!this.#closed) native.ping(this.#number, String(this.#pings));
  }

  setTimeout(callback, delay) { this.#addTimer('setTimeout', callback, delay, false); }
  setInterval(callback, delay) { this.#addTimer('setInterval', callback, delay, true); }

  close(code = 1001) {
    if (this.#closed) return;
    this.#closed = true;
    native.close(this.#number, code, '');
    this.#tell('close', code);
  }

  #addTimer(name, callback, delay, repeats) {
    if (typeof callback !== 'function') throw new TypeError(`socket.${name}() wants a function to call; give it first, then the milliseconds`);
    if (!(delay > 0)) throw new RangeError(`${name} requires a >0 timeout parameter, received ${Number(delay ?? 0).toFixed(2)}`);
    this.#timers.push({ callback, due: native.now() + delay, every: repeats ? delay : undefined });
  }

  // Waits for what comes first, a timer or news of the socket.
  #turn() {
    let first;
    for (const timer of this.#timers) if (first === undefined || timer.due < first.due) first = timer;
    const told = native.next(this.#number, first && first.due - native.now());
    if (told !== undefined) this.#take(...told);
    if (!this.#closed && first !== undefined && first.due <= native.now()) this.#call(first);
  }

  #call(timer) {
    if (timer.every === undefined) this.#timers.splice(this.#timers.indexOf(timer), 1);
    else timer.due = Math.max(timer.due + timer.every, native.now());
    timer.callback();
  }

  #take(kind, first, second, third) {
    if (kind === 'ping' || kind === 'pong') return this.#tell(kind);
    if (kind !== 'closed') return this.#tell(kind, first);
    this.#closed = true;
    if (third !== undefined) {
      const error = { code: first, text: second };
      Object.defineProperty(error, 'error', { value: () => third });
      this.#tell('error', error);
    }
    this.#tell('close', first);
  }

  #tell(type, ...told) {
    const handlers = this.#handlers[type];
    if (handlers !== undefined) for (const handler of handlers) handler(...told);
  }
}

export function connect(url, ...rest) {
  if (rest.length === 0) throw new TypeError('invalid number of arguments to ws.connect: connect(url, params, function)');
  const [params, setUp] = rest.length === 1 ? [undefined, rest[0]] : rest;
  if (typeof setUp !== 'function') throw new TypeError('last argument to ws.connect must be a function');
  return Socket.run(String(url), params, setUp);
}

export default { connect };
