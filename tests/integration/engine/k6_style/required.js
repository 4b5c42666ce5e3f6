// CommonJS beside modules: require of a file, of JSON read with open, and of k6's own modules.
const http = require('k6/http');
const { check } = require('k6');
const { double } = require('./data/numbers.js');

exports.options = { vus: 1, iterations: 5 };

exports.default = function () {
  const response = http.get(`${__ENV.URL}/echo?n=${double(__ITER)}`);
  check(response, { 'a function of another file': (r) => r.json('target') === `/echo?n=${2 * __ITER}` });
};
