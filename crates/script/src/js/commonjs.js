// CommonJS: a file runs once, when the first import or require() meets it.
export default function (native) {
  const modules = new Map();

  function run(path) {
    const known = modules.get(path);
    if (known) return known.exports;
    const module = { exports: {} };
    modules.set(path, module);
    try {
      native.wrapper(path).call(module.exports, module.exports, require, module);
    } catch (error) {
      modules.delete(path);
      throw error;
    }
    return module.exports;
  }

  function require(name) {
    const found = native.locate(String(name));
    return found.startsWith('commonjs:') ? run(found.slice('commonjs:'.length)) : native.namespace(found);
  }

  return { run, require };
}
