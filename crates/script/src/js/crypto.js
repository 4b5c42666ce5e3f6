const native = import.meta.native;

export const md4 = (input, encoding) => native.hash('md4', input, encoding);
export const md5 = (input, encoding) => native.hash('md5', input, encoding);
export const sha1 = (input, encoding) => native.hash('sha1', input, encoding);
export const sha256 = (input, encoding) => native.hash('sha256', input, encoding);
export const sha384 = (input, encoding) => native.hash('sha384', input, encoding);
export const sha512 = (input, encoding) => native.hash('sha512', input, encoding);
export const sha512_224 = (input, encoding) => native.hash('sha512_224', input, encoding);
export const sha512_256 = (input, encoding) => native.hash('sha512_256', input, encoding);
export const ripemd160 = (input, encoding) => native.hash('ripemd160', input, encoding);
export const hmac = (algorithm, secret, input, encoding) => native.hmac(String(algorithm), secret, input, encoding);
export const createHash = (algorithm) => native.createHash(String(algorithm));
export const createHMAC = (algorithm, secret) => native.createHMAC(String(algorithm), secret);
export const hexEncode = (input) => native.hexEncode(input);
export const randomBytes = (size) => native.randomBytes(Math.trunc(Number(size)));

export default {
  createHash, createHMAC, hexEncode, hmac, md4, md5, randomBytes, ripemd160, sha1, sha256, sha384, sha512, sha512_224,
  sha512_256,
};
