import { check } from 'k6';
import secrets, { get, source } from 'k6/secrets';
const outcome = async (work) => { try { return await work(); } catch (error) { return error.message; } };
const early = await secrets.get('token');
export default async function () {
  const found = {
    token: await get('token'), other: await (await source('vault')).get('token'),
    missing: await outcome(() => get('nope')), nowhere: await outcome(async () => (await source('nowhere')).get('token')),
  };
  check(found, {
    early: () => early === 'hunter2',
    get: () => found.token === 'hunter2',
    source: () => found.other === 'from = file',
    missing: () => found.missing.includes("no secret 'nope'"),
    nowhere: () => found.nowhere.includes("'nowhere'"),
  });
  console.log(`the token is ${found.token}, other ${found.other}`);
  console.log({ found });
  if (__ITER === 1) throw new Error(`no access with ${found.token}`);
}
