import { expect, it } from 'vitest';
import { newFingerprint, newFloatingLicense, newLease } from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';

/** A call counts within a minute, which does not pass here. */
const server = sharedServer({
  flags: { 'rate-limit-public': '600' },
  clock: sharedClock(Date.UTC(2030, 0, 1)),
});

/** How many of 100 calls at once are answered, and how many are refused by a limit. */
async function outcomes(path: string, request: object): Promise<{ answered: number; limited: number }> {
  const replies = await Promise.all(Array.from({ length: 100 }, () => server.post(path, request)));
  const count = (wanted: number) => replies.filter(({ status }) => status === wanted).length;
  return { answered: count(200), limited: count(429) };
}

it.each([
  ['release', {}],
  ['borrow', { hours: 1, machine_fingerprint: newFingerprint() }],
  ['return', {}],
])('limits the calls per lease to %s it', async (action, fields) => {
  const license = await newFloatingLicense(server, { seats: 5 });
  const request = async () => ({ lease_token: (await newLease(server, license)).lease_token, ...fields });
  expect(await outcomes(`/leases/${action}/`, await request())).toEqual({ answered: 60, limited: 40 });
  expect((await server.post(`/leases/${action}/`, await request())).status).toBe(200);
});

it('counts the return by a file like one by the token', async () => {
  const { lease_token } = await newLease(server);
  const loan = { lease_token, hours: 1, machine_fingerprint: newFingerprint() };
  const { lease_file } = (await server.post('/leases/borrow/', loan)).body;
  expect(await outcomes('/leases/return/', { lease_file })).toEqual({ answered: 59, limited: 41 });
});
