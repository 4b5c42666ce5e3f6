// Builds install packages: the manifest of each, then its archive; now and then somebody searches.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    builds: {
      executor: 'constant-arrival-rate',
      rate: 10,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 1000,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<1000'] },
};

const base = __ENV.BASE_URL;

export default function () {
  for (let k = 0; k < 2; k++) {
    const name = `harbour-${Math.floor(Math.random() * 20)}`;
    const manifest = http.get(`${base}/${name}`, {
      headers: { Accept: 'application/vnd.npm.install-v1+json' }, tags: { name: 'manifest' },
    });
    check(manifest, { 'has versions': (r) => r.status === 200 && r.json('dist-tags.latest') === '1.5.0' });
    http.get(`${base}/${name}/-/${name}-1.5.0.tgz`, { responseType: 'none', tags: { name: 'archive' } });
  }
  if (Math.random() < 0.05) http.get(`${base}/-/v1/search?text=harbour&size=10`, { tags: { name: 'search' } });
}
