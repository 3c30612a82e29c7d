import { beforeAll, describe, expect, it } from 'vitest';
import { newBearer, newLeaseGroup, newLeaseRule, success, unique } from '../helpers/contract-calls.ts';
import { listening } from '../helpers/live-client.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

async function auditOf(subject: string): Promise<string[]> {
  return (await server.admin.listAudit({ subject })).items.map(({ action }) => action);
}

describe('/lease-groups/', () => {
  const change = (input: object) => server.call('PUT', '/lease-groups/', input, bearer);
  const remove = (input: object) => server.call('DELETE', '/lease-groups/', input, bearer);

  it('keeps each member once, in the spelling that was given first', async () => {
    const name = unique('team');
    const { group } = await success(
      server,
      'createLeaseGroup',
      { name, members: ['Ada', 'ADA', 'bo'] },
      bearer,
    );
    expect(group).toMatchObject({ name, kind: 'user', members: ['Ada', 'bo'], rule_count: 0 });
    const update = (input: object) =>
      success(server, 'updateLeaseGroup', { name, ...input }, bearer).then((reply) => reply.group.members);
    expect(await update({ add_members: ['cy', 'BO'], remove_members: ['ada'] })).toEqual(['bo', 'cy']);
    expect(await update({ members: ['x'] })).toEqual(['x']);
    expect(await update({})).toEqual(['x']);
    expect(await auditOf(`lease_group:${group.id}`)).toHaveLength(3);
  });

  it('has a unique name and can be renamed, which its rules follow', async () => {
    const { id, name } = await newLeaseGroup(server);
    const rule = await newLeaseRule(server, { match: { group: name } });
    const other = await newLeaseGroup(server);
    expectFailure(await server.post('/lease-groups/', { name }, bearer), 'lease_group_exists');
    expectFailure(await change({ name, new_name: other.name }), 'lease_group_exists');
    const renamed = unique('renamed');
    await success(server, 'updateLeaseGroup', { id, name: renamed }, bearer);
    const listed = await success(server, 'listLeaseRules', { license: rule.license_key }, bearer);
    expect(listed.items).toMatchObject([{ match: { group: renamed } }]);
    expectFailure(await change({ name, members: [] }), 'lease_group_not_found');
  });

  it('cannot be deleted while a rule names it', async () => {
    const { id, name } = await newLeaseGroup(server);
    const rule = await newLeaseRule(server, { match: { group: name } });
    expectFailure(await remove({ id }), 'lease_group_in_use');
    await server.admin.deleteLeaseRule({ id: rule.id });
    expect((await remove({ name })).body.group.id).toBe(id);
    expectFailure(await remove({ name }), 'lease_group_not_found');
  });

  it('is kept when a request to delete it names another group, too', async () => {
    const first = await newLeaseGroup(server);
    const second = await newLeaseGroup(server);
    expectFailure(await remove({ id: first.id, name: second.name }), 'lease_group_not_found');
    expect((await remove({ id: first.id, name: first.name })).body.group.id).toBe(first.id);
    expect((await remove({ id: second.id })).status).toBe(200);
  });

  it('of hosts takes names, addresses and networks', async () => {
    const members = ['ws-1', '10.0.0.7', '10.1.0.0/16', '2001:db8::/32'];
    expect((await newLeaseGroup(server, { kind: 'host', members })).members).toEqual(members);
    const refused = { name: unique('farm'), kind: 'host', members: ['10.1.0.0/99'] };
    expectFailure(await server.post('/lease-groups/', refused, bearer), 'invalid_request');
  });
});

it('open back offices hear of changed rules and groups', async () => {
  const page = await listening(server);
  const { id, name } = await newLeaseGroup(server);
  await page.changed('lease_rules', 'audit');
  await newLeaseRule(server, { match: { group: name } });
  await page.changed('lease_rules', 'audit');
  expect(await auditOf(`lease_group:${id}`)).toEqual(['lease_group.created']);
  await page.vanish();
});
