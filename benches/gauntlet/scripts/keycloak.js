// An application's users sign in, the application asks who they are and refreshes their token.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    sign_in: {
      executor: 'constant-arrival-rate',
      rate: 5,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 1000,
    },
  },
  thresholds: { checks: ['rate>0.99'], 'http_req_duration{name:token}': ['p(95)<1000'] },
};

const oidc = `${__ENV.BASE_URL}/realms/shop/protocol/openid-connect`;

export default function () {
  const user = Math.floor(Math.random() * 60);
  const signedIn = http.post(`${oidc}/token`, {
    grant_type: 'password', client_id: 'shop', scope: 'openid', username: `user${user}`, password: `secret${user}`,
  }, { tags: { name: 'token' } });
  if (!check(signedIn, { 'signed in': (r) => r.status === 200 })) return;
  const token = signedIn.json('access_token');
  const who = http.get(`${oidc}/userinfo`, { headers: { Authorization: `Bearer ${token}` }, tags: { name: 'userinfo' } });
  check(who, { 'knows who': (r) => r.status === 200 });
  const refreshed = http.post(`${oidc}/token`, {
    grant_type: 'refresh_token', client_id: 'shop', refresh_token: signedIn.json('refresh_token'),
  }, { tags: { name: 'refresh' } });
  check(refreshed, { refreshed: (r) => r.status === 200 });
}
