const native = import.meta.native;
const NOTHING = new Uint8Array(0);

export class TextEncoder {
  get encoding() { return 'utf-8'; }

  encode(text = '') { return native.encode(String(text)); }

  // Writes as many whole characters as there is room for.
  encodeInto(text, target) {
    let read = 0;
    let written = 0;
    for (const character of String(text)) {
      const bytes = native.encode(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      read += character.length;
      written += bytes.length;
    }
    return { read, written };
  }
}

export class TextDecoder {
  #left = NOTHING;
  #begun = false;

  constructor(label = 'utf-8', options = {}) {
    const encoding = native.name(String(label));
    if (encoding === undefined || encoding === null) {
      throw new RangeError(`TextDecoder: '${label}' is no encoding known here; use 'utf-8', 'utf-16le' or 'utf-16be'`);
    }
    const { fatal = false, ignoreBOM = false } = options ?? {};
    for (const [name, value] of Object.entries({ encoding, fatal: !!fatal, ignoreBOM: !!ignoreBOM })) {
      Object.defineProperty(this, name, { value, enumerable: true });
    }
  }

  decode(input, options) {
    const stream = !!options?.stream;
    const [text, left] = native.decode(this.encoding, this.fatal, this.#left, input, stream);
    const hasMark = !this.#begun && !this.ignoreBOM && text.charCodeAt(0) === 0xfeff;
    this.#begun = stream && (this.#begun || text !== '');
    this.#left = stream ? left : NOTHING;
    return hasMark ? text.slice(1) : text;
  }
}
