const native = import.meta.native;

const sourceOf = (name) => ({ get: async (key) => native.get(name, String(key)) });

export async function get(key) { return native.get(undefined, String(key)); }
export async function source(name) { return sourceOf(String(name)); }

export default { get, source };
