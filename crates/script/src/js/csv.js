import { sharedView } from 'plimsoll:shared-array';

const native = import.meta.native;

function pathOf(file) {
  if (file === null || typeof file !== 'object' || typeof file.path !== 'string') {
    throw new TypeError("csv wants a file of k6/experimental/fs: await csv.parse(await open('./data.csv'))");
  }
  return file.path;
}

// All records as a SharedArray.
export async function parse(file, options) {
  return sharedView(native.parse(pathOf(file), Object(options)));
}

export class Parser {
  #next;

  constructor(file, options) {
    if (!native.inInit()) throw new Error('a csv Parser must be made in the init context; make it at the top of the script');
    this.#next = native.reader(pathOf(file), Object(options));
  }

  async next() {
    const value = this.#next();
    return value === null ? { done: true, value: [] } : { done: false, value };
  }
}

export default { parse, Parser };
