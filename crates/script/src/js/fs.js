const native = import.meta.native;

export const SeekMode = { Start: 0, Current: 1, End: 2 };

class File {
  #name;
  #size;
  #offset = 0;

  constructor(path, name, size) {
    Object.defineProperty(this, 'path', { value: path, enumerable: true });
    this.#name = name;
    this.#size = size;
  }

  // How many bytes were read, or null at the end of the file.
  async read(into) {
    const count = native.read(this.path, this.#offset, into);
    this.#offset += count;
    return count === 0 && into.length > 0 ? null : count;
  }

  // The new position; one outside of the file is an error.
  async seek(offset, whence) {
    if (!Number.isInteger(offset)) throw new TypeError('seek() wants a whole number as its offset: seek(0, SeekMode.Start)');
    const base = { [SeekMode.Start]: 0, [SeekMode.Current]: this.#offset, [SeekMode.End]: this.#size }[whence];
    if (base === undefined) throw new TypeError('seek() wants a SeekMode as its second argument: seek(0, SeekMode.Start)');
    const position = base + offset;
    if (position < 0 || position > this.#size) {
      throw new TypeError(`seek(${offset}): position ${position} is outside of the file, which has ${this.#size} bytes`);
    }
    this.#offset = position;
    return position;
  }

  async stat() { return { name: this.#name, size: this.#size }; }
}

export async function open(path) {
  if (path === undefined || path === null || path === '') throw new TypeError("open() wants a path: await open('./data.csv')");
  return new File(...native.open(String(path)));
}

export default { open, SeekMode };
