import { beforeAll, describe, expect, it } from 'vitest';
import {
  newBearer,
  newFloatingLicense,
  newLease,
  newLeaseGroup,
  newLeaseRule,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { checkOut, keepPlaces, queued, release } from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const server = sharedServer();
let bearer: Record<string, string>;
let integrator: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
  integrator = await newBearer(server, 'integrator');
});

const post = (input: object) => server.post('/lease-rules/', input, bearer);
const put = (input: object) => server.call('PUT', '/lease-rules/', input, bearer);
const license = async () => (await newFloatingLicense(server)).license_key;

interface Listed {
  id: number;
  position: number;
  match: { user?: string };
}

async function rulesOf(ref: string): Promise<Listed[]> {
  return (await success(server, 'listLeaseRules', { license: ref }, bearer)).items as Listed[];
}

/** The users of a license's rules, in order. */
async function order(ref: string): Promise<string[]> {
  const items = await rulesOf(ref);
  expect(items.map(({ position }) => position)).toEqual(items.map((_, at) => at + 1));
  return items.map(({ match }) => match.user ?? '');
}

async function auditOf(subject: string): Promise<string[]> {
  return (await server.admin.listAudit({ subject })).items.map(({ action }) => action);
}

describe('POST /lease-rules/', () => {
  it('adds a rule at the end, or at its position', async () => {
    const { license_id, license_key } = await newFloatingLicense(server);
    const { name } = await newLeaseGroup(server);
    const add = (input: object) =>
      success(server, 'createLeaseRule', { license: license_id, ...input }, bearer);
    const { rule } = await add({ type: 'reserve', match: { group: name }, units: 2, note: 'CAD' });
    expect(rule).toMatchObject({
      license_id,
      license_key,
      position: 1,
      type: 'reserve',
      match: { group: name },
      units: 2,
      note: 'CAD',
    });
    await add({ type: 'deny', match: { user: 'eve', host: 'ws-1', address: '10.0.0.0/8' } });
    await add({ type: 'allow', match: {}, position: 1 });
    await add({ type: 'max', match: { address: '2001:db8::1' }, units: 1, position: 200 });
    const items = await rulesOf(license_key);
    expect(items).toMatchObject([
      { position: 1, type: 'allow', match: {}, units: null, note: null },
      { position: 2, type: 'reserve' },
      { position: 3, type: 'deny', match: { user: 'eve', host: 'ws-1', address: '10.0.0.0/8' } },
      { position: 4, type: 'max', units: 1 },
    ]);
  });

  it.each([
    {},
    { type: 'reserve', match: { user: 'ada' } },
    { type: 'max', match: {} },
    { type: 'deny', match: {}, units: 1 },
    { type: 'allow', match: {}, units: 1 },
    { type: 'reserve', match: {}, units: 1 },
    { type: 'reserve', match: { user: 'ada' }, units: 0 },
    { type: 'reserve', match: { user: 'ada' }, units: 1.5 },
    { type: 'forbid', match: {} },
    { type: 'deny' },
    { type: 'deny', match: null },
    { type: 'deny', match: { usr: 'ada' } },
    { type: 'deny', match: { user: '' } },
    { type: 'deny', match: { user: 'a\u{200b}da' } },
    { type: 'deny', match: { address: '10.0.0.0/33' } },
    { type: 'deny', match: { address: '10.0.0' } },
    { type: 'deny', match: {}, position: 0 },
    { type: 'deny', match: {}, position: 201 },
  ])('refuses %j and adds nothing', async (input) => {
    const ref = await license();
    expectFailure(await post({ license: ref, ...input }), 'invalid_request');
    expect(await rulesOf(ref)).toEqual([]);
  });

  it('refuses an unknown license, group and a mistyped key', async () => {
    const rule = { type: 'deny', match: { group: 'nonesuch' } };
    expectFailure(await post({ ...rule, license: await license() }), 'lease_group_not_found');
    expectFailure(await post({ ...rule, license: 999_999 }), 'license_not_found');
    expectFailure(await post({ ...rule, license: 'AAAAA-AAAAA-AAAAA-AAAAA-AAAAA' }), 'invalid_request');
    expectFailure(await server.get('/lease-rules/?license=999999', bearer), 'license_not_found');
  });

  it('adds as many at once as there are callers, each at a different position', async () => {
    const ref = await license();
    const users = Array.from({ length: 12 }, (_, at) => `user-${at}`);
    const replies = await Promise.all(
      users.map((user) => post({ license: ref, type: 'deny', match: { user }, position: 1 })),
    );
    for (const { status } of replies) expect(status).toBe(200);
    expect((await order(ref)).toSorted()).toEqual(users.toSorted());
  });

  it('adds at most 200 rules to a license', async () => {
    const ref = await license();
    for (let at = 0; at < 200; at += 1)
      await server.admin.createLeaseRule({ license: ref, type: 'deny', match: { user: `u${at}` } });
    const reply = await post({ license: ref, type: 'deny', match: {} });
    expectFailure(reply, 'invalid_request');
    expect(reply.body.message).toBe('license: the license has 200 lease rules, which is the most');
  });

  it('adds a rule once for an idempotency key', async () => {
    const ref = await license();
    const headers = { ...bearer, 'idempotency-key': unique('key') };
    const input = { license: ref, type: 'deny', match: { user: 'eve' } };
    const [first, second] = [
      await server.post('/lease-rules/', input, headers),
      await server.post('/lease-rules/', input, headers),
    ];
    expect(second.body.rule).toEqual(first.body.rule);
    expect(await rulesOf(ref)).toHaveLength(1);
  });
});

describe('PUT /lease-rules/', () => {
  it('changes some fields of a match, and keeps the others', async () => {
    const { id } = await newLeaseRule(server, {
      type: 'reserve',
      match: { user: 'ada', host: 'ws-1' },
      units: 1,
    });
    const matchOf = async (input: object) =>
      (await success(server, 'updateLeaseRule', { id, ...input }, bearer)).rule.match as object;
    expect(await matchOf({ match_changes: { user: null, address: '10.0.0.0/8' } })).toEqual({
      host: 'ws-1',
      address: '10.0.0.0/8',
    });
    expect(await matchOf({ match_changes: {} })).toEqual({ host: 'ws-1', address: '10.0.0.0/8' });
    expect(await matchOf({ match: { user: 'eve' }, match_changes: { host: 'ws-2' } })).toEqual({
      user: 'eve',
      host: 'ws-2',
    });
    const nobody = { user: null, host: null };
    expectFailure(await put({ id, match_changes: nobody }), 'invalid_request');
    expectFailure(await put({ id, match_changes: { usr: 'ada' } }), 'invalid_request');
  });

  it('changes the given fields, and the whole match', async () => {
    const rule = await newLeaseRule(server, { type: 'max', match: { user: 'ada', host: 'ws-1' }, units: 3 });
    const update = (input: object) =>
      success(server, 'updateLeaseRule', { id: rule.id, ...input }, bearer).then((reply) => reply.rule);
    expect(await update({ units: 4 })).toMatchObject({ units: 4, match: { user: 'ada', host: 'ws-1' } });
    expect(await update({ match: { host: 'ws-2' } })).toMatchObject({ units: 4, match: { host: 'ws-2' } });
    expect(await update({ type: 'deny', units: null, note: 'x' })).toMatchObject({
      type: 'deny',
      units: null,
    });
    expectFailure(await put({ id: rule.id, units: 1 }), 'invalid_request');
    expectFailure(await put({ id: rule.id, type: 'max' }), 'invalid_request');
    expectFailure(await put({ id: rule.id, type: 'reserve', units: 1, match: {} }), 'invalid_request');
    expect(await auditOf(`lease_rule:${rule.id}`)).toEqual([
      'lease_rule.updated',
      'lease_rule.updated',
      'lease_rule.updated',
      'lease_rule.created',
    ]);
    await update({ note: 'x' });
    expect(await auditOf(`lease_rule:${rule.id}`)).toHaveLength(4);
  });

  it('moves a rule, and the rules in between by one', async () => {
    const ref = await license();
    const users = ['a', 'b', 'c', 'd', 'e'];
    for (const user of users)
      await server.admin.createLeaseRule({ license: ref, type: 'deny', match: { user } });
    const [a, , , d] = await rulesOf(ref);
    await server.admin.updateLeaseRule({ id: d?.id ?? 0, position: 2 });
    expect(await order(ref)).toEqual(['a', 'd', 'b', 'c', 'e']);
    await server.admin.updateLeaseRule({ id: a?.id ?? 0, position: 200 });
    expect(await order(ref)).toEqual(['d', 'b', 'c', 'e', 'a']);
    await server.admin.deleteLeaseRule({ id: d?.id ?? 0 });
    expect(await order(ref)).toEqual(['b', 'c', 'e', 'a']);
  });

  it('does not find an unknown rule', async () => {
    expectFailure(await put({ id: 999_999, units: 1 }), 'lease_rule_not_found');
    const gone = await server.call('DELETE', '/lease-rules/?id=999999', undefined, bearer);
    expectFailure(gone, 'lease_rule_not_found');
  });
});

describe('GET /lease-rules/', () => {
  it('lists by license and position, over pages', async () => {
    const ref = await license();
    for (const user of ['a', 'b', 'c'])
      await server.admin.createLeaseRule({ license: ref, type: 'deny', match: { user } });
    const first = await success(server, 'listLeaseRules', { license: ref, limit: 2 }, bearer);
    expect(first.items.map(({ match }: Listed) => match.user)).toEqual(['a', 'b']);
    const cursor = first.next_cursor as string;
    const second = await success(server, 'listLeaseRules', { license: ref, limit: 2, cursor }, bearer);
    expect(second).toMatchObject({ items: [{ match: { user: 'c' } }], next_cursor: null });
    const all = (await success(server, 'listLeaseRules', { limit: 500 }, bearer)).items as {
      license_id: number;
    }[];
    expect(all.map(({ license_id }) => license_id)).toEqual(
      all.map(({ license_id }) => license_id).toSorted((one, other) => one - other),
    );
  });
});

describe('roles', () => {
  it.each([
    ['POST', '/lease-rules/', { license: 1, type: 'deny', match: {} }],
    ['PUT', '/lease-rules/', { id: 1 }],
    ['DELETE', '/lease-rules/', { id: 1 }],
    ['POST', '/lease-rules/import/', { license: 1, content: 'x' }],
    ['POST', '/lease-groups/', { name: 'x' }],
    ['PUT', '/lease-groups/', { name: 'x' }],
    ['DELETE', '/lease-groups/', { name: 'x' }],
  ])('an integrator may not %s %s', async (method, path, body) => {
    expectFailure(await server.call(method, path, body, integrator), 'forbidden');
    expectFailure(await server.call(method, path, body), 'unauthorized');
  });

  it('an integrator may read and try rules', async () => {
    await success(server, 'listLeaseRules', {}, integrator);
    await success(server, 'listLeaseGroups', {}, integrator);
    await success(server, 'tryLeaseRules', { license: await license() }, integrator);
  });
});

describe('POST /lease-rules/try/', () => {
  const tried = (input: object) => success(server, 'tryLeaseRules', { ...input }, bearer);

  it('says who gets a seat, and which rule decides', async () => {
    const ref = await license();
    const { name } = await newLeaseGroup(server, { members: ['ada'] });
    const add = (type: 'reserve' | 'deny' | 'allow', match: object, units?: number) =>
      server.admin.createLeaseRule({ license: ref, type, match, units }).then(({ rule }) => rule);
    const reserve = await add('reserve', { group: name }, 2);
    const allow = await add('allow', { group: name });
    const deny = await add('deny', { address: '10.0.0.0/8' });
    const pool = { total: 2, in_use: 0, available: 0, reserved: 2 };
    expect(await tried({ license: ref, user: 'ADA', address: '10.1.1.1' })).toMatchObject({
      granted: true,
      reason: null,
      decided_by: { id: allow.id },
      matching: [{ id: reserve.id }, { id: allow.id }, { id: deny.id }],
      pool,
    });
    expect(await tried({ license: ref, user: 'eve', address: '10.1.1.1' })).toMatchObject({
      granted: false,
      reason: 'denied_by_rule',
      decided_by: { id: deny.id },
      matching: [{ id: deny.id }],
    });
    expect(await tried({ license: ref, user: 'eve' })).toMatchObject({
      granted: false,
      reason: 'no_seat_available',
      decided_by: { id: reserve.id },
      matching: [],
    });
    // An edit applies to the next call.
    await server.admin.updateLeaseGroup({ name, add_members: ['eve'] });
    expect(await tried({ license: ref, user: 'eve' })).toMatchObject({ granted: true });
  });

  it.each([
    ['user', { user: 'ada' }, { user: 'eve' }],
    ['user_host', { user: 'ada', host: 'ws-1' }, { user: 'ada', host: 'ws-2' }],
    ['device', { machine_fingerprint: fingerprintOf(41) }, { machine_fingerprint: fingerprintOf(42) }],
  ] as const)('shares the seat that a client of the same %s has', async (countBy, same, other) => {
    const plan = await newFloatingLicense(server, { seats: 1, count_by: countBy });
    await newLease(server, plan, same);
    const ask = (client: object) => tried({ license: plan.license_key, ...client });
    expect(await ask(same)).toMatchObject({ granted: true, pool: { in_use: 1, available: 0 } });
    expect(await ask({ ...same, units: 2 })).toMatchObject({ granted: false, reason: 'no_seat_available' });
    expect(await ask(other)).toMatchObject({ granted: false, reason: 'no_seat_available' });
    // Like a checkout that does not say what its seat is counted by.
    const refused = await server.post('/lease-rules/try/', { license: plan.license_key }, bearer);
    expectFailure(refused, 'invalid_request');
    expect(refused.body.details).toMatchObject([{ path: Object.keys(same)[0] }]);
  });

  it('leaves free seats to the clients that wait for them', async () => {
    const plan = await newFloatingLicense(server, { seats: 2 });
    const [first] = [await newLease(server, plan), await newLease(server, plan)];
    await queued(server, plan, { units: 2 });
    await keepPlaces(server.dataDir, plan.license_id);
    await release(server, first.lease_token);
    expect(await tried({ license: plan.license_key })).toMatchObject({
      granted: false,
      reason: 'no_seat_available',
      decided_by: null,
      pool: { in_use: 1, available: 1 },
    });
    expect((await checkOut(server, plan)).body.error_code).toBe('no_seat_available');
  });

  it('knows that a client takes over the seat that it left lingering', async () => {
    const plan = await newFloatingLicense(server, { seats: 1, linger_seconds: 300 });
    const ada = { user: 'ada', host: 'ws-1' };
    await release(server, (await newLease(server, plan, ada)).lease_token);
    const ask = (client: object) => tried({ license: plan.license_key, ...client });
    expect(await ask({ user: 'eve', host: 'ws-2' })).toMatchObject({ reason: 'no_seat_available' });
    expect(await ask(ada)).toMatchObject({ granted: true, pool: { in_use: 1, available: 0 } });
    expect((await checkOut(server, plan, ada)).status).toBe(200);
  });

  it('knows licenses that have no seats to give', async () => {
    const locked = await newLicense(server);
    expect(await tried({ license: locked.license_id })).toMatchObject({
      granted: false,
      reason: 'license_is_node_locked',
      pool: null,
    });
    await server.admin.revokeLicense({ ref: locked.license_key });
    expect(await tried({ license: locked.license_id })).toMatchObject({
      reason: 'license_revoked',
      pool: null,
    });
    expect((await checkOut(server, locked)).body.error_code).toBe('license_revoked');
    const { license_key } = await newFloatingLicense(server);
    await server.admin.revokeLicense({ ref: license_key });
    expect(await tried({ license: license_key })).toMatchObject({ reason: 'license_revoked' });
    expectFailure(await server.post('/lease-rules/try/', { license: 999_999 }, bearer), 'license_not_found');
  });
});
