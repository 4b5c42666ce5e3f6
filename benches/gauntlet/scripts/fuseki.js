// An application on linked data: a person, their friends' friends in town, how many live there, a new acquaintance.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    people: {
      executor: 'constant-arrival-rate',
      rate: 10,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 20,
      maxVUs: 1000,
    },
  },
  thresholds: { http_req_failed: ['rate<0.01'], http_req_duration: ['p(95)<500'] },
};

const base = `${__ENV.BASE_URL}/people`, ns = 'PREFIX : <http://example.org/>';
const any = (most) => Math.floor(Math.random() * most);

function ask(name, query) {
  const answer = http.post(`${base}/sparql`, { query: `${ns} ${query}` }, {
    headers: { Accept: 'application/sparql-results+json' }, tags: { name },
  });
  check(answer, { answered: (r) => r.status === 200 });
}

export default function () {
  const person = `:p${any(4000)}`;
  ask('person', `SELECT ?name ?town { ${person} :name ?name ; :lives ?town }`);
  ask('friends of friends', `SELECT DISTINCT ?n { ${person} :knows/:knows ?f . ?f :lives :town${any(80)} ; :name ?n } LIMIT 20`);
  if (Math.random() < 0.2) ask('who lives here', `SELECT (COUNT(*) AS ?c) { ?p :lives :town${any(80)} ; :knows ?q . ?q :lives ?t }`);
  if (Math.random() < 0.05) {
    const update = `${ns} INSERT DATA { ${person} :knows :p${any(4000)} }`;
    check(http.post(`${base}/update`, { update }, { tags: { name: 'meet' } }), { met: (r) => r.status < 300 });
  }
}
