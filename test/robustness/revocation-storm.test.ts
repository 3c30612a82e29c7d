// What is taken away is gone for every call that starts after the reply, in the middle of a storm of calls.
import { describe, expect, it } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { fingerprintOf, type Reply } from '../helpers/test-server.ts';

const CALLERS = 12;
const ROUNDS = roundsOr(2);
const server = sharedServer();
/** Plans and features of their own for each round. */
let rounds = 0;

/** One thing that can be called for, and taken away. */
interface Subject {
  /** Calls for what is the same each time; true if it was granted. */
  isGranted(): Promise<boolean>;
  takeAway(): Promise<unknown>;
}

const grants = ({ status, body }: Reply) =>
  status === 200 && (body.valid === true || body.authorized === true || Array.isArray(body.plans));

async function newLicense() {
  rounds += 1;
  const feature = `feature-${rounds}`;
  const { plan } = await server.admin.createPlan({
    name: `plan-${rounds}`,
    max_activations: 3,
    features: [feature],
  });
  const { license } = await server.admin.createLicense({ holder: 'Storm', plan: plan.name });
  return { plan, feature, license_key: license.license_key };
}

async function newToken() {
  const { license_key } = await newLicense();
  const { token, authorization_token } = await server.admin.issueToken({ license: license_key });
  const isGranted = async () => grants(await server.post('/authorize/token/', { token }));
  return { license_key, id: authorization_token.id, isGranted };
}

async function authorizing(fields: (made: Awaited<ReturnType<typeof newLicense>>) => object) {
  const made = await newLicense();
  const machine_fingerprint = fingerprintOf(rounds);
  await server.post('/activate/', { license_key: made.license_key, machine_fingerprint });
  const request = { license_key: made.license_key, ...fields(made) };
  const isGranted = async () => grants(await server.post('/authorize/', request));
  return { ...made, machine_fingerprint, isGranted };
}

const SUBJECTS: [string, () => Promise<Subject>][] = [
  [
    'a token that is revoked',
    async () => {
      const { id, isGranted } = await newToken();
      return { isGranted, takeAway: () => server.admin.revokeToken({ id }) };
    },
  ],
  [
    'a token that is replaced',
    async () => {
      const { license_key, isGranted } = await newToken();
      return { isGranted, takeAway: () => server.admin.issueToken({ license: license_key }) };
    },
  ],
  [
    'a token whose license is revoked',
    async () => {
      const { license_key, isGranted } = await newToken();
      return { isGranted, takeAway: () => server.admin.revokeLicense({ ref: license_key }) };
    },
  ],
  [
    'a license that is revoked',
    async () => {
      const { license_key, isGranted } = await authorizing(() => ({}));
      return { isGranted, takeAway: () => server.admin.revokeLicense({ ref: license_key }) };
    },
  ],
  [
    'a device that is released',
    async () => {
      const { license_key, machine_fingerprint, isGranted } = await authorizing(() => ({
        machine_fingerprint: fingerprintOf(rounds),
      }));
      return {
        isGranted,
        takeAway: () => server.admin.releaseDevice({ ref: license_key, machine_fingerprint }),
      };
    },
  ],
  [
    'a feature that the plan loses',
    async () => {
      const { plan, isGranted } = await authorizing(({ feature }) => ({ feature }));
      return { isGranted, takeAway: () => server.admin.updatePlan({ id: plan.id, features: [] }) };
    },
  ],
  [
    'an API token that is revoked',
    async () => {
      const { api_token, token } = await server.admin.createApiToken({ name: 'Storm', role: 'admin' });
      const headers = { authorization: `Bearer ${api_token}` };
      return {
        isGranted: async () => grants(await server.get('/plans/', headers)),
        takeAway: () => server.admin.revokeApiToken({ id: token.id }),
      };
    },
  ],
];

/**
 * Lets callers call without a pause, takes the thing away after `before` replies, and has each caller call on for a while.
 * @returns how many calls were granted of those that started before, and of those that started after the reply
 */
async function storm({ isGranted, takeAway }: Subject, before: number) {
  let replies = 0;
  let isTaken = false;
  const granted = { before: 0, after: 0 };
  const { promise: enough, resolve: beginTaking } = Promise.withResolvers<void>();
  if (before === 0) beginTaking();

  const caller = async () => {
    for (let callsAfter = 0; callsAfter < 5;) {
      const startedAfter = isTaken;
      if (await isGranted()) granted[startedAfter ? 'after' : 'before'] += 1;
      replies += 1;
      if (replies >= before) beginTaking();
      if (startedAfter) callsAfter += 1;
    }
  };
  const taker = async () => {
    await enough;
    await takeAway();
    isTaken = true;
  };
  await Promise.all([...Array.from({ length: CALLERS }, caller), taker()]);
  return granted;
}

describe.each(SUBJECTS)('%s', (_what, newSubject) => {
  it('is refused from the next call on, however often it was granted before', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const granted = await storm(await newSubject(), CALLERS * (round + 1));
      expect(granted.after).toBe(0);
      expect(granted.before).toBeGreaterThan(0);
    }
  });

  it('is refused where its first calls meet the change', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const subject = await newSubject();
      expect((await storm(subject, round)).after).toBe(0);
      expect(await subject.isGranted()).toBe(false);
    }
  });
});

it('keeps nothing of a license whose 60 tokens are first used while it is revoked', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const { license_key } = await newLicense();
    const issued = await atOnce(60, (number) =>
      server.admin.issueToken({ license: license_key, product: `product-${number}` }),
    );
    const use = async (number: number) =>
      grants(
        await server.post('/authorize/token/', {
          token: issued[number]?.token,
          product_slug: `product-${number}`,
        }),
      );
    const [firstUse] = await Promise.all([atOnce(60, use), server.admin.revokeLicense({ ref: license_key })]);
    expect(firstUse).toHaveLength(60);
    expect(await atOnce(60, use)).toEqual(Array<boolean>(60).fill(false));
  }
});
