import { beforeAll, describe, expect, it } from 'vitest';
import { newBearer, newLicense, success, unique } from '../helpers/contract-calls.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

const create = async (input: object) => (await success(server, 'createPlan', { ...input }, bearer)).plan;
const update = async (input: object) => (await success(server, 'updatePlan', { ...input }, bearer)).plan;
const post = (input: object) => server.post('/plans/', input, bearer);
const put = (input: object) => server.call('PUT', '/plans/', input, bearer);
const remove = (query: string, body?: unknown) => server.call('DELETE', `/plans/${query}`, body, bearer);
const list = async () =>
  (await success(server, 'listPlans', {}, bearer)).plans as { id: number; name: string; tier: number }[];
const names = async () => (await list()).map(({ name }) => name);

/** What floating licenses use, as plans have it that say nothing about them. */
const NODE_LOCKED = {
  licensing: 'node_locked',
  seats: null,
  lease_seconds: 600,
  heartbeat_seconds: 200,
  count_by: 'process',
  overdraft_seats: 0,
  borrow_max_hours: 0,
  borrow_max_count: null,
  borrow_keep_free: 0,
  linger_seconds: 0,
};

describe('GET /plans/', () => {
  it('lists the four plans of a fresh data directory', async () => {
    const plan = (
      id: number,
      name: string,
      display_name: string,
      tier: number,
      days: number,
      grace: number,
      seats: number | null,
    ) => ({
      id,
      name,
      display_name,
      product: null,
      tier,
      duration_days: days,
      grace_days: grace,
      max_activations: seats,
      features: [],
      archived: false,
      ...NODE_LOCKED,
    });
    expect(await list()).toEqual([
      plan(1, 'trial', 'Trial', 0, 14, 0, 1),
      plan(2, 'standard', 'Standard', 10, 365, 14, 1),
      plan(3, 'professional', 'Professional', 20, 365, 14, 5),
      plan(4, 'enterprise', 'Enterprise', 30, 365, 30, null),
    ]);
  });

  it('is a list like any other: items and next_cursor beside plans, by limit and cursor', async () => {
    const { body } = await server.get('/plans/', bearer);
    expect(body.items).toEqual(body.plans);
    expect(body.next_cursor).toBeNull();
    const first = (await server.get('/plans/?limit=3', bearer)).body;
    expect(first.plans.map(({ name }: { name: string }) => name)).toEqual([
      'trial',
      'standard',
      'professional',
    ]);
    const second = (await server.get(`/plans/?limit=3&cursor=${first.next_cursor}`, bearer)).body;
    expect([second.plans[0]?.name, second.next_cursor]).toEqual(['enterprise', null]);
  });

  it.each(['limit=0', 'limit=-1', 'limit=501', 'limit=x', 'cursor=nonsense!'])(
    'refuses ?%s',
    async (query) => {
      expectFailure(await server.get(`/plans/?${query}`, bearer), 'invalid_request');
    },
  );
});

describe('POST /plans/', () => {
  it('needs a name only', async () => {
    const name = unique('plain');
    expect(await create({ name })).toEqual({
      id: expect.any(Number) as number,
      name,
      display_name: name,
      product: null,
      tier: 0,
      duration_days: 365,
      grace_days: 0,
      max_activations: 1,
      features: [],
      archived: false,
      ...NODE_LOCKED,
    });
  });

  it('takes everything that a plan has', async () => {
    const plan = {
      name: unique('full'),
      display_name: 'Největší – 最大',
      product: 'imager',
      tier: 1_000_000,
      duration_days: 36_500,
      grace_days: 3650,
      max_activations: null,
      features: ['ocr', '0-9', 'f'.repeat(64)],
      archived: true,
      licensing: 'floating',
      seats: 1_000_000_000,
      lease_seconds: 86_400,
      count_by: 'user_host',
      overdraft_seats: 7,
      borrow_max_hours: 8760,
      borrow_max_count: 3,
      borrow_keep_free: 2,
      linger_seconds: 86_400,
    };
    const made = await create(plan);
    expect(made).toEqual({ id: made.id, ...plan, heartbeat_seconds: 28_800 });
    expect(await list()).toContainEqual(made);
  });

  it.each(['a', '0', '-', 'a-b-c', 'x'.repeat(64)])('may be named %s', async (name) => {
    expect((await create({ name })).name).toBe(name);
  });

  it.each(['', 'A', 'a b', 'a_b', 'ä', 'a\n', 'x'.repeat(65), 5, null])(
    'may not be named %j',
    async (name) => {
      expectFailure(await post({ name }), 'invalid_request');
    },
  );

  it.each([
    {},
    { tier: -1 },
    { licensing: 'rented' },
    { seats: 0 },
    { lease_seconds: 59 },
    { lease_seconds: 86_401 },
    { count_by: 'seat' },
    { overdraft_seats: -1 },
    { borrow_max_hours: 1.5 },
    { tier: 1.5 },
    { tier: '1' },
    { tier: null },
    { tier: 1e18 },
    { duration_days: 0 },
    { duration_days: 36_501 },
    { grace_days: -1 },
    { grace_days: 3651 },
    { max_activations: 0 },
    { max_activations: -1 },
    { max_activations: 2 ** 53 },
    { max_activations: 'unlimited' },
    { features: 'ocr' },
    { features: ['Not A Slug'] },
    { features: [''] },
    { features: [1] },
    { features: Array.from({ length: 201 }, (_, at) => `f${at}`) },
    { product: 'Not A Slug' },
    { display_name: '' },
    { archived: 'no' },
    { archived: null },
  ])('refuses %j', async (input) => {
    const name = Object.keys(input).length === 0 ? {} : { name: unique('refused') };
    expectFailure(await post({ ...name, ...input }), 'invalid_request');
  });

  it('names every wrong field at once', async () => {
    const reply = await post({ name: 'A', tier: -1, features: ['ok', 'Not'] });
    expectFailure(reply, 'invalid_request');
    const paths = reply.body.details.map(({ path }: { path: string }) => path);
    expect(paths.toSorted()).toEqual(['features.1', 'name', 'tier']);
  });

  it('gives a name once, also to many who ask at once', async () => {
    expectFailure(await post({ name: 'trial' }), 'plan_exists');
    const name = unique('wanted');
    const replies = await Promise.all(Array.from({ length: 10 }, () => post({ name })));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies) if (reply.status !== 200) expectFailure(reply, 'plan_exists');
  });
});

describe('PUT /plans/', () => {
  it('changes the given fields and nothing else', async () => {
    const before = await create({ name: unique('change'), features: ['a'], tier: 3 });
    expect(await update({ name: before.name, tier: 4, features: [] })).toEqual({
      ...before,
      tier: 4,
      features: [],
    });
    expect(await update({ id: before.id, max_activations: null })).toMatchObject({
      tier: 4,
      max_activations: null,
    });
    expect(await update({ id: before.id, product: 'imager' })).toMatchObject({ product: 'imager' });
    expect(await update({ id: before.id, product: null })).toMatchObject({ product: null });
    expect(await update({ id: before.id })).toMatchObject({ tier: 4, features: [] });
  });

  it('adds no audit entry if nothing changes', async () => {
    const plan = await create({ name: unique('same'), features: ['a'], archived: true });
    const { name, tier, grace_days } = plan;
    const same = { name, tier, grace_days, features: ['a'], archived: true, remove_features: ['b'] };
    for (const input of [{ name }, same]) expect(await update(input)).toEqual(plan);
    const { items } = await server.admin.listAudit({ subject: `plan:${plan.id}` });
    expect(items.map(({ action }) => action)).toEqual(['plan.created']);
  });

  it('adds and removes some entitlements, and keeps the others', async () => {
    const { id } = await create({ name: unique('entitled'), features: ['a', 'b'] });
    expect(await update({ id, add_features: ['c', 'a'], remove_features: ['b', 'z'] })).toMatchObject({
      features: ['a', 'c'],
    });
    expect(await update({ id, features: ['x', 'y'], remove_features: ['y'] })).toMatchObject({
      features: ['x'],
    });
    expect(await update({ id, add_features: [], remove_features: [] })).toMatchObject({ features: ['x'] });
    const many = Array.from({ length: 200 }, (_, at) => `f${at}`);
    expectFailure(await put({ id, add_features: many }), 'invalid_request');
    expectFailure(await put({ id, add_features: ['Not A Slug'] }), 'invalid_request');
  });

  it('keeps each entitlement once, in the order in which it is first named', async () => {
    const name = unique('distinct');
    const { id, features } = await create({ name, features: ['b', 'a', 'b', 'a'] });
    expect(features).toEqual(['b', 'a']);
    expect(await update({ id, features: ['c', 'a', 'c'] })).toMatchObject({ features: ['c', 'a'] });
    const license = await newLicense(server, { plan: name });
    const { body } = await server.post('/authorize/', { license_key: license.license_key });
    expect(body).toMatchObject({ features: ['c', 'a'] });
  });

  it('renames a plan that it names by its id', async () => {
    const { id } = await create({ name: unique('old') });
    const name = unique('new');
    expect(await update({ id, name })).toMatchObject({ id, name });
    const another = unique('newer');
    expect(await update({ name, new_name: another })).toMatchObject({ id, name: another });
    expectFailure(await put({ name, tier: 1 }), 'plan_not_found');
  });

  it('refuses the name of another plan', async () => {
    const { id, name } = await create({ name: unique('unlucky') });
    expectFailure(await put({ id, name: 'trial' }), 'plan_exists');
    expectFailure(await put({ name, new_name: 'trial' }), 'plan_exists');
    expect(await update({ id, name })).toMatchObject({ id, name });
  });

  it('changes its licenses at once', async () => {
    const plan = unique('alive');
    await create({ name: plan, features: ['a'] });
    const license = await newLicense(server, { plan });
    const name = unique('renamed');
    await update({ name: plan, new_name: name, features: ['b'], max_activations: 9, grace_days: 2 });
    const { license: after } = await server.admin.showLicense({ ref: license.license_key });
    expect(after).toMatchObject({
      plan: name,
      features: ['b'],
      max_activations: 9,
      expires_at: license.expires_at,
    });
    expect(Date.parse(after.grace_ends_at)).toBe(Date.parse(license.expires_at) + 2 * 86_400_000);
    const { body } = await server.post('/authorize/', { license_key: license.license_key });
    expect(body).toMatchObject({ plan: name, features: ['b'] });
  });

  it('does not take a used plan to another product', async () => {
    const { id, name } = await create({ name: unique('used') });
    await newLicense(server, { plan: name });
    expectFailure(await put({ id, product: 'imager' }), 'plan_in_use');
    expect(await update({ id, product: null, tier: 2 })).toMatchObject({ product: null, tier: 2 });
  });

  it('archives a plan, which then refuses new licenses and keeps its existing ones', async () => {
    const { id, name } = await create({ name: unique('retire') });
    const { license_key } = await newLicense(server, { plan: name });
    expect(await update({ id, archived: true })).toMatchObject({ archived: true });
    await expect(newLicense(server, { plan: name })).rejects.toMatchObject({ code: 'plan_not_found' });
    expect((await server.post('/authorize/', { license_key })).body.authorized).toBe(true);
    expect((await server.post('/renew/', { license_key }, bearer)).status).toBe(200);
    expect(await update({ id, archived: false })).toMatchObject({ archived: false });
    expect((await newLicense(server, { plan: name })).plan).toBe(name);
  });

  it.each([
    {},
    { tier: 5 },
    { id: '1' },
    { id: 0 },
    { id: 1.5 },
    { id: 2 ** 53 },
    { id: true },
    { name: 'Not A Slug' },
    { id: 1, tier: -1 },
  ])('refuses %j', async (input) => expectFailure(await put(input), 'invalid_request'));

  it.each([{ id: 999_999 }, { id: Number.MAX_SAFE_INTEGER }, { name: 'nonesuch' }])(
    'does not find %j',
    async (input) => {
      expectFailure(await put({ ...input, tier: 1 }), 'plan_not_found');
    },
  );
});

describe('DELETE /plans/', () => {
  it.each([
    ['id in the query', ({ id }: { id: number }) => remove(`?id=${id}`)],
    ['name in the query', ({ name }: { name: string }) => remove(`?name=${name}`)],
    ['id in the body', ({ id }: { id: number }) => remove('', { id })],
    ['name in the body', ({ name }: { name: string }) => remove('', { name })],
  ])('names its plan by the %s', async (_how, call) => {
    const plan = await create({ name: unique('gone') });
    const reply = await call(plan);
    expect([reply.status, reply.body.plan]).toEqual([200, plan]);
    expect(await names()).not.toContain(plan.name);
    expectFailure(await call(plan), 'plan_not_found');
  });

  it('deletes nothing when the request names two plans', async () => {
    const first = await create({ name: unique('first') });
    const second = await create({ name: unique('second') });
    expectFailure(await remove(`?id=${first.id}&name=${second.name}`), 'plan_not_found');
    expectFailure(await remove('', { id: first.id, name: second.name }), 'plan_not_found');
    expectFailure(await remove(`?id=${first.id}`, { name: second.name }), 'plan_not_found');
    expectFailure(await remove(`?id=${first.id}`, { id: second.id }), 'invalid_request');
    expectFailure(await remove(`?name=${first.name}`, { name: second.name }), 'invalid_request');
    expect(await names()).toEqual(expect.arrayContaining([first.name, second.name]));
  });

  it('deletes the plan that the request names twice', async () => {
    const { id, name } = await create({ name: unique('twice') });
    expect((await remove(`?id=${id}&name=${name}&note=a`, { id, name, note: 'b' })).status).toBe(200);
    expect(await names()).not.toContain(name);
  });

  it('leaves a plan that any license uses, even a revoked one', async () => {
    const { id, name } = await create({ name: unique('kept') });
    const { license_key } = await newLicense(server, { plan: name });
    await server.admin.revokeLicense({ ref: license_key });
    expectFailure(await remove(`?id=${id}`), 'plan_in_use');
    expect(await names()).toContain(name);
  });

  it('gives the name free, but never the id again', async () => {
    const first = await create({ name: unique('again') });
    await remove(`?id=${first.id}`);
    const second = await create({ name: first.name });
    expect(second.id).toBeGreaterThan(first.id);
  });

  const refused: [string, unknown][] = [
    ['', undefined],
    ['?id=', undefined],
    ['?id=0', undefined],
    ['?id=-1', undefined],
    ['?id=1.5', undefined],
    ['?id=0x2', undefined],
    ['?id=2e0', undefined],
    ['?id=%202', undefined],
    ['?id=9007199254740993', undefined],
    ['?id=2&id=3', undefined],
    ['?name=', undefined],
    ['?name=trial&name=standard', undefined],
    ['?name=Trial', undefined],
    ['', { id: true }],
    ['', { id: [2] }],
    ['', { id: null }],
    ['', { name: ['trial'] }],
    ['?name=trial', []],
    ['?name=trial', 'text'],
    ['?name=trial', 5],
    ['?name=trial', null],
  ];
  it.each(refused)('refuses %s with the body %j', async (query, body) => {
    const before = await names();
    expectFailure(await remove(query, body), 'invalid_request');
    expect(await names()).toEqual(before);
  });

  it('refuses a body that is no JSON', async () => {
    const headers = { ...bearer, 'content-type': 'text/plain' };
    expectFailure(await server.call('DELETE', '/plans/?name=trial', 'x', headers), 'unsupported_media_type');
    expect(await names()).toContain('trial');
  });
});

describe('a plan and its licenses', () => {
  it('cannot part, even when one is deleted while the other is made', async () => {
    for (let time = 0; time < 5; time += 1) {
      const { id, name } = await create({ name: unique('race') });
      const attempts = await Promise.allSettled([
        newLicense(server, { plan: name }),
        remove(`?id=${id}`),
        newLicense(server, { plan: name }),
      ]);
      const survived = (await names()).includes(name);
      expect(survived).toBe(attempts[0].status === 'fulfilled' || attempts[2].status === 'fulfilled');
    }
  });
});
