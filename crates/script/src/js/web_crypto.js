const native = import.meta.native;

export const crypto = {
  getRandomValues(array) {
    native.fill(array);
    return array;
  },
  randomUUID: () => native.uuid(),
  get subtle() {
    throw new Error("crypto.subtle is not supported yet; hash and sign with 'k6/crypto' where that is enough");
  },
};
