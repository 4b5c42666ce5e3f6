// A library's front end: an author's page with books and reviews, a search by year, a new review.
import http from 'k6/http';
import { check } from 'k6';

export const options = {
  scenarios: {
    readers: {
      executor: 'constant-arrival-rate',
      rate: 20,
      timeUnit: '1s',
      duration: '1m',
      preAllocatedVUs: 30,
      maxVUs: 1500,
    },
  },
  thresholds: { checks: ['rate>0.99'], http_req_duration: ['p(95)<300'] },
};

const AUTHOR = `query Author($id: Int!) { authorById(id: $id) { name booksByAuthorId(first: 10) {
  nodes { id title year reviewsByBookId(first: 3) { totalCount nodes { stars text } } } } } }`;
const YEAR = `query Year($year: Int!) { allBooks(condition: {year: $year}, orderBy: TITLE_ASC, first: 10) {
  totalCount nodes { title authorByAuthorId { name } } } }`;
const REVIEW = `mutation Review($review: ReviewInput!) { createReview(input: {review: $review}) { review { id } } }`;

function ask(name, query, variables) {
  const answer = http.post(`${__ENV.BASE_URL}/graphql`, JSON.stringify({ query, variables }), {
    headers: { 'Content-Type': 'application/json' }, tags: { name },
  });
  check(answer, { 'no errors': (r) => r.status === 200 && !r.json('errors') });
  return answer;
}

export default function () {
  const author = ask('author', AUTHOR, { id: 1 + Math.floor(Math.random() * 2000) });
  if (Math.random() < 0.3) ask('year', YEAR, { year: 1950 + Math.floor(Math.random() * 75) });
  if (Math.random() < 0.1) {
    const bookId = author.json('data.authorById.booksByAuthorId.nodes.0.id');
    ask('review', REVIEW, { review: { bookId, stars: 4, text: 'Well worth it.' } });
  }
}
