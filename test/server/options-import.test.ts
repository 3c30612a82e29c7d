import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MAX_GROUPS } from '#server/features/lease-rules/lease-group-contract.ts';
import {
  newBearer,
  newFloatingLicense,
  newLeaseGroup,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();
let bearer: Record<string, string>;
/** Group names are shared by the whole installation. */
let team: string;

beforeAll(async () => {
  bearer = await newBearer(server);
  team = unique('team');
});

const fileFor = (group: string) => `# Viewer
GROUP ${group} ada grace
RESERVE 1 viewer GROUP ${group}
EXCLUDE viewer USER eve
MAX_BORROW_HOURS viewer 48
BORROW_LOWWATER viewer 1
TIMEOUT viewer 1800
NOLOG QUEUED
RESERVE 1 viewer PROJECT apollo
`;

const many = (count: number, text: (at: number) => string, separator = '\n') =>
  Array.from({ length: count }, (_, at) => text(at)).join(separator);

const run = (input: object) => success(server, 'importLeaseRules', { ...input }, bearer);

async function stateOf(license: string) {
  const { items } = await server.admin.listLeaseRules({ license });
  const { license: record } = await server.admin.showLicense({ ref: license });
  return {
    rules: items.map(({ type, match, units }) => [type, match, units]),
    limits: record.seat_limits,
  };
}

describe('POST /lease-rules/import/', () => {
  it('only reports in a dry run', async () => {
    const { license_key, license_id } = await newFloatingLicense(server);
    const before = await stateOf(license_key);
    const groups = (await server.admin.listLeaseGroups({ limit: 500 })).items.length;
    const report = await run({ license: license_id, content: fileFor(team), dry_run: true });
    expect(report).toMatchObject({
      applied: false,
      features: ['viewer'],
      lines: [
        { line: 2, outcome: 'mapped' },
        { line: 3, outcome: 'mapped' },
        { line: 4, outcome: 'mapped' },
        { line: 5, outcome: 'mapped' },
        { line: 6, outcome: 'mapped' },
        { line: 7, outcome: 'mapped' },
        { line: 8, outcome: 'ignored' },
        { line: 9, outcome: 'not_mapped', text: 'RESERVE 1 viewer PROJECT apollo' },
      ],
      rules: [
        { type: 'deny', match: { user: 'eve' }, units: null, is_new: true },
        { type: 'reserve', match: { group: team }, units: 1, is_new: true },
      ],
      groups: [{ name: team, kind: 'user', members: ['ada', 'grace'], change: 'create' }],
      settings: [
        { of: 'license', field: 'borrow_max_hours', before: 24, value: 48, applies: true },
        { of: 'license', field: 'borrow_keep_free', before: 0, value: 1, applies: true },
        { of: 'plan', field: 'lease_seconds', before: 600, value: 1800, applies: false },
      ],
      deleted_rules: 0,
      warnings: [],
    });
    expect(await stateOf(license_key)).toEqual(before);
    expect((await server.admin.listLeaseGroups({ limit: 500 })).items).toHaveLength(groups);
  });

  it('adds rules, groups and limits, and a second time nothing', async () => {
    const { license_key } = await newFloatingLicense(server);
    const content = fileFor(team);
    expect((await run({ license: license_key, content })).applied).toBe(true);
    const imported = await stateOf(license_key);
    expect(imported).toMatchObject({
      rules: [
        ['deny', { user: 'eve' }, null],
        ['reserve', { group: team }, 1],
      ],
      limits: {
        borrow_max_hours: 48,
        borrow_keep_free: 1,
        lease_seconds: 600,
        overridden: ['borrow_max_hours', 'borrow_keep_free'],
      },
    });
    const audit = async () => (await server.admin.listAudit({ limit: 1 })).items[0]?.id;
    const last = await audit();
    const again = await run({ license: license_key, content });
    expect(again).toMatchObject({
      rules: [{ is_new: false }, { is_new: false }],
      groups: [{ change: 'none' }],
    });
    expect(await stateOf(license_key)).toEqual(imported);
    expect(await audit()).toBe(last);
  });

  it('changes the plan only when asked to', async () => {
    const { license_key, plan } = await newFloatingLicense(server);
    await run({ license: license_key, content: 'TIMEOUT f 1800\nLINGER f 30\n', change_plan: true });
    expect((await stateOf(license_key)).limits).toMatchObject({ lease_seconds: 1800, linger_seconds: 30 });
    const { plans } = await server.admin.listPlans({ limit: 500 });
    expect(plans.find(({ name }) => name === plan)).toMatchObject({
      lease_seconds: 1800,
      linger_seconds: 30,
    });
  });

  it('replaces the rules of the license when asked to', async () => {
    const { license_key } = await newFloatingLicense(server);
    for (const user of ['a', 'b'])
      await server.admin.createLeaseRule({ license: license_key, type: 'deny', match: { user } });
    const content = 'EXCLUDE f USER b\nEXCLUDE f USER c\n';
    const report = await run({ license: license_key, content, replace: true });
    expect(report).toMatchObject({ deleted_rules: 2, rules: [{ is_new: true }, { is_new: true }] });
    expect((await stateOf(license_key)).rules).toEqual([
      ['deny', { user: 'b' }, null],
      ['deny', { user: 'c' }, null],
    ]);
  });

  it('adds after the existing rules, and warns of one that hides the new ones', async () => {
    const { license_key } = await newFloatingLicense(server);
    await server.admin.createLeaseRule({ license: license_key, type: 'deny', match: {} });
    const { warnings } = await run({ license: license_key, content: 'EXCLUDE f USER b\n' });
    expect(warnings).toMatchObject([expect.stringMatching(/^rule \d+ \(deny, everyone\) comes first/u)]);
  });

  it('keeps the members of an existing group unless asked to change them, and then imports nothing', async () => {
    const { name } = await newLeaseGroup(server, { members: ['joan'] });
    const { license_key } = await newFloatingLicense(server);
    const content = fileFor(name);
    const dry = await run({ license: license_key, content, dry_run: true });
    expect(dry.groups).toMatchObject([{ name, change: 'conflict' }]);
    const refused = await server.post('/lease-rules/import/', { license: license_key, content }, bearer);
    expectFailure(refused, 'lease_group_exists');
    expect((await stateOf(license_key)).rules).toEqual([]);
    const report = await run({ license: license_key, content, update_groups: true });
    expect(report.groups).toMatchObject([{ name, change: 'update' }]);
    const { items } = await server.admin.listLeaseGroups({ limit: 500 });
    expect(items.find((group) => group.name === name)?.members).toEqual(['ada', 'grace']);
  });

  it.each([
    [
      'rules',
      many(201, (at) => `EXCLUDE f USER u${at}`),
      'line 201: the license has 200 lease rules',
      { reason: 'line_exceeds_rules', values: { line: 201, max: 200 } },
    ],
    [
      'members of a group',
      ['EXCLUDE f GROUP crowd', many(2001, (at) => `GROUP crowd m${at}`)].join('\n'),
      'line 2: a group has at most 2000 members',
      { reason: 'line_exceeds_members', values: { line: 2, max: 2000 } },
    ],
  ])(
    'imports nothing if there are too many %s, and a dry run says so',
    async (_what, content, message, rule) => {
      const { license_key: license } = await newFloatingLicense(server);
      for (const dry_run of [true, false]) {
        const reply = await server.post('/lease-rules/import/', { license, content, dry_run }, bearer);
        expectFailure(reply, 'invalid_request');
        expect(reply.body.message).toContain(`content: ${message}`);
        expect(reply.body.details).toMatchObject([{ path: 'content', ...rule }]);
      }
      expect((await stateOf(license)).rules).toEqual([]);
    },
  );

  it('imports nothing if there are too many groups, and a dry run says so', async () => {
    const { license_key: license } = await newFloatingLicense(server);
    const prefix = unique('filler');
    const { items } = await server.admin.listLeaseGroups({ limit: 500 });
    const missing = MAX_GROUPS - 1 - items.length;
    const fillers = many(missing, (at) => `('${prefix}-${at}', 'user', '[]', 1, 0, 0)`, ', ');
    const columns = 'name, kind, members, revision, created_at, updated_at';
    await writeRows(server.dataDir, `INSERT INTO lease_groups (${columns}) VALUES ${fillers}`);
    onTestFinished(() => writeRows(server.dataDir, `DELETE FROM lease_groups WHERE name LIKE '${prefix}-%'`));
    const pair = [unique('last'), unique('beyond')];
    const content = pair.map((name) => `GROUP ${name} ada\nEXCLUDE f GROUP ${name}`).join('\n');
    for (const dry_run of [true, false]) {
      const reply = await server.post('/lease-rules/import/', { license, content, dry_run }, bearer);
      expectFailure(reply, 'invalid_request');
      expect(reply.body.message).toBe('content: line 3: there are 500 groups, which is the most');
      expect(reply.body.details).toMatchObject([
        { path: 'content', reason: 'line_exceeds_groups', values: { line: 3, max: 500 } },
      ]);
    }
  });

  it('replaces as many rules as a license may have', async () => {
    const { license_key: license } = await newFloatingLicense(server);
    const content = many(200, (at) => `EXCLUDE f USER u${at}`);
    await run({ license, content });
    const report = await run({ license, content, replace: true, dry_run: true });
    expect(report).toMatchObject({ deleted_rules: 200 });
  });

  it('leaves out a group with a broken network, and rules about it, in a dry run as well', async () => {
    const { license_key: license } = await newFloatingLicense(server);
    const lab = unique('lab');
    const content = `HOST_GROUP ${lab} lab1 10.0.0.0/33\nEXCLUDE f HOST_GROUP ${lab}\nMAX 3 f USER ann\n`;
    for (const dry_run of [true, false]) {
      const { lines } = await run({ license, content, dry_run });
      expect(lines).toMatchObject([
        { outcome: 'not_mapped', message: expect.stringContaining('10.0.0.0/33, which is not a network') },
        { outcome: 'not_mapped', message: `no imported line defines the group ${lab}` },
        { outcome: 'mapped' },
      ]);
    }
    expect((await stateOf(license)).rules).toEqual([['max', { user: 'ann' }, 3]]);
  });

  it('names what it says about each line, and each warning', async () => {
    const { license_id } = await newLicense(server);
    const group = unique('cad');
    const content = [
      `GROUP ${group} ada ${group}`,
      `RESERVE 2 viewer:VERSION=2.0 GROUP ${group}`,
      'EXCLUDE viewer HOST 10.0.0.0/33',
      'MAX many viewer USER ada',
      'INCLUDE viewer',
      'LINGER viewer 90000',
      'NOLOG QUEUED',
    ].join('\n');
    const report = await run({ license: license_id, content, dry_run: true });
    expect(report.lines).toMatchObject([
      {
        message: `group ${group}, users; ${group}: taken as a name, because a group cannot contain groups`,
        notes: [
          { reason: 'group', values: { group, kind: 'user' } },
          { reason: 'nested_groups', values: { members: [group] } },
        ],
      },
      {
        message: `rule: reserve 2, group ${group}; the license has one pool, so VERSION=2.0 is not checked`,
        notes: [
          {
            reason: 'rule_with_seats',
            values: { type: 'reserve', units: 2, field: 'group', name: group },
          },
          { reason: 'one_pool', values: { pool: 'VERSION=2.0' } },
        ],
      },
      { notes: [{ reason: 'not_a_network', values: { what: 'host', name: '10.0.0.0/33' } }] },
      { notes: [{ reason: 'not_a_number', values: { word: 'many' } }] },
      { notes: [{ reason: 'missing_word', values: { what: 'type' } }] },
      {
        notes: [
          { reason: 'setting', values: { setting: 'linger_seconds', value: 86_400 } },
          { reason: 'out_of_range', values: { value: 90_000, min: 0, max: 86_400 } },
        ],
      },
      { notes: [{ reason: 'own_logs', values: {} }] },
    ]);
    expect(report.warning_notes).toEqual([
      { reason: 'shuts_no_one_out', values: { line: 5 } },
      { reason: 'node_locked', values: {} },
    ]);
    expect(report.warnings).toHaveLength(2);
  });

  it('gives a group of hosts a different name than a group of users', async () => {
    const { license_key: license } = await newFloatingLicense(server);
    const name = unique('lab');
    const content = [
      `HOST_GROUP ${name} ws-1`,
      `HOST_GROUP ${name}-hosts ws-2`,
      `GROUP ${name} ada`,
      `EXCLUDE f HOST_GROUP ${name}`,
      `EXCLUDE f HOST_GROUP ${name}-hosts`,
      `EXCLUDE f GROUP ${name}`,
    ].join('\n');
    expect((await run({ license, content })).groups).toMatchObject([
      { name: `${name}-hosts-2`, members: ['ws-1'] },
      { name: `${name}-hosts`, members: ['ws-2'] },
      { name, members: ['ada'] },
    ]);
    const again = await run({ license, content });
    expect(again.groups).toMatchObject([{ change: 'none' }, { change: 'none' }, { change: 'none' }]);
  });

  it('shortens the name of a group of hosts without cutting a joined emoji in two', async () => {
    const { license_key: license } = await newFloatingLicense(server);
    const start = unique('lab').padEnd(90, 'x');
    // Eight UTF-16 units, of which four fit in front of `-hosts`.
    const name = `${start}👩‍👩‍👧`;
    const content = [
      `HOST_GROUP ${name} ws-1`,
      `GROUP ${name} ada`,
      `EXCLUDE f HOST_GROUP ${name}`,
      `EXCLUDE f GROUP ${name}`,
    ].join('\n');
    expect((await run({ license, content })).groups).toMatchObject([{ name: `${start}-hosts` }, { name }]);
  });

  it('takes the rules of a node-locked license, but no limits', async () => {
    const { license_key } = await newLicense(server);
    const report = await run({ license: license_key, content: 'EXCLUDE f USER b\nMAX_OVERDRAFT f 2\n' });
    expect(report).toMatchObject({
      settings: [{ field: 'overdraft_seats', applies: false }],
      warnings: ['the license is node-locked, so its rules have no effect yet'],
    });
  });

  it.each([
    { content: '' },
    { content: 5 },
    {},
    { content: 'x', features: 'f' },
    { content: 'x', dry_run: 1 },
  ])('refuses %j', async (input) => {
    const { license_id } = await newFloatingLicense(server);
    const reply = await server.post('/lease-rules/import/', { license: license_id, ...input }, bearer);
    expectFailure(reply, 'invalid_request');
  });
});
