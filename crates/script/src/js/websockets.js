const native = import.meta.native;

const TYPES = ['open', 'message', 'error', 'close', 'ping', 'pong'];

// Names of buffers, views and dates would add these objects to each VU that imports this, used or not: the host makes them.
let contentOf;
export class Blob {
  #content;
  #type;

  constructor(parts = [], options = {}) {
    if (parts === null || typeof parts !== 'object' || typeof parts[Symbol.iterator] !== 'function') {
      throw new TypeError("new Blob() wants a list of parts: new Blob(['text', bytes], { type: 'text/plain' })");
    }
    this.#content = native.join(Array.from(parts, (part) => (part instanceof Blob ? part.#content : part)));
    this.#type = String((options && options.type) ?? '');
  }

  static {
    contentOf = (blob) => blob.#content;
  }

  get size() { return this.#content.byteLength; }
  get type() { return this.#type; }
  async text() { return native.text(this.#content); }
  async arrayBuffer() { return this.#content.slice(0); }
  async bytes() { return native.view(this.#content); }
  slice(start, end, type = '') { return new Blob([this.#content.slice(start ?? 0, end ?? this.size)], { type }); }
  stream() { throw new Error('Blob.stream() is not supported yet; use arrayBuffer(), bytes() or text()'); }
  toJSON() { return { size: this.size, type: this.#type }; }
  get [Symbol.toStringTag]() { return 'Blob'; }
}

function wrongState(what) {
  const error = new Error(`InvalidStateError: ${what} needs an open WebSocket; wait for its open event`);
  error.name = 'InvalidStateError';
  return error;
}

export class WebSocket {
  #number;
  #url;
  #state = 0;
  #protocol = '';
  #extensions = [];
  #binaryType = 'blob';
  #handlers = {};
  #listeners = {};
  #pings = 0;

  constructor(url, protocols, params) {
    if (url === undefined) throw new TypeError("WebSocket requires a url: new WebSocket('ws://localhost:8080/path')");
    this.#url = String(url);
    this.#number = native.open(this.#url, protocols, params, (...told) => this.#take(...told));
  }

  get url() { return this.#url; }
  get readyState() { return this.#state; }
  get bufferedAmount() { return native.buffered(this.#number); }
  get extensions() { return this.#extensions; }
  get protocol() { return this.#protocol; }
  get binaryType() { return this.#binaryType; }
  set binaryType(type) {
    if (type !== 'blob' && type !== 'arraybuffer') {
      throw new TypeError(`unknown binaryType ${String(type)}, the supported ones are blob and arraybuffer`);
    }
    this.#binaryType = type;
  }

  send(data) {
    if (this.#state !== 1) throw wrongState('send()');
    native.send(this.#number, data instanceof Blob ? contentOf(data) : data);
  }

  ping() {
    if (this.#state !== 1) throw wrongState('ping()');
    this.#pings += 1;
    native.ping(this.#number, String(this.#pings));
  }

  close(code, reason) {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
      throw new RangeError(`InvalidAccessError: Failed to execute 'close' on 'WebSocket': The close code must be either 1000, or between 3000 and 4999. ${String(code)} is neither`);
    }
    const words = reason === undefined || reason === null ? '' : String(reason);
    if (words.length > 41 && native.length(words) > 123) {
      throw new SyntaxError("Failed to execute 'close' on 'WebSocket': The message must not be greater than 123 bytes");
    }
    if (this.#state > 1) return;
    this.#state = 2;
    native.close(this.#number, code ?? 1000, words);
  }

  addEventListener(type, listener) {
    if (!TYPES.includes(type)) {
      native.warn(`can't add event handler: unknown event type: ${String(type)}; there are ${TYPES.join(', ')}`);
      return;
    }
    if (typeof listener !== 'function') throw new TypeError(`handler for event type ${type} isn't a callable function`);
    (this.#listeners[type] ??= []).push(listener);
  }

  static {
    for (const type of TYPES) {
      Object.defineProperty(this.prototype, `on${type}`, {
        get() { return this.#handlers[type] ?? null; },
        set(handler) {
          if (handler !== null && handler !== undefined && typeof handler !== 'function') {
            throw new TypeError(`a value for 'on${type}' should be callable`);
          }
          this.#handlers[type] = handler;
        },
        configurable: true,
        enumerable: true,
      });
    }
  }

  toJSON() {
    const { url, readyState, bufferedAmount, extensions, protocol, binaryType } = this;
    return { url, readyState, bufferedAmount, extensions, protocol, binaryType };
  }

  #take(kind, first, second, third) {
    if (kind === 'message') this.#tell('message', { data: first, origin: this.#url });
    else if (kind === 'binaryMessage') {
      this.#tell('message', { data: this.#binaryType === 'blob' ? new Blob([first]) : first, origin: this.#url });
    } else if (kind === 'open') {
      this.#protocol = first;
      this.#extensions = second;
      // A socket that its script has closed meanwhile is not shown as open.
      if (this.#state !== 0) return;
      this.#state = 1;
      this.#tell('open', {});
    } else if (kind === 'failed') {
      this.#state = 3;
      this.#tell('error', { error: first });
      this.#tell('close', { code: undefined, reason: '' });
    } else if (kind === 'closed') {
      if (third !== undefined) {
        this.#state = 3;
        this.#tell('error', { error: third });
      }
      this.#state = 3;
      this.#tell('close', { code: first, reason: second });
    } else this.#tell(kind, {});
  }

  #tell(type, more) {
    const handler = this.#handlers[type];
    const listeners = this.#listeners[type];
    if (!handler && !listeners) return;
    const event = Object.freeze({ type, target: this, timestamp: native.time(), ...more });
    if (handler) handler.call(this, event);
    if (listeners) for (const listener of listeners) listener.call(this, event);
  }
}

export default { WebSocket, Blob };
