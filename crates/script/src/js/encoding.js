const native = import.meta.native;

export function b64encode(input, encoding) { return native.encode(input, String(encoding)); }
export function b64decode(input, encoding, format) { return native.decode(input, String(encoding), format === 's'); }

export default { b64encode, b64decode };
