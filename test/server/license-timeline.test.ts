import { describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newBearer,
  newLicense,
  unique,
} from '../helpers/contract-calls.ts';
import { plantWebhook } from '../helpers/outbox.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const START = Date.UTC(2033, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });
const namesOf = (page: { items: { name: string }[] }) => page.items.map(({ name }) => name);

/** A license with a device, a token and a certificate, all of which ended; a moment apart, each with one change. */
async function eventfulLicense() {
  const license = await newLicense(server);
  const { license_id, license_key: ref } = license;
  const step = <Result>(work: Promise<Result>) => work.finally(() => clock.advance(1000));
  clock.advance(1000);
  const { activation } = await step(activateDevice(server, license));
  const { authorization_token: token } = await step(server.admin.issueToken({ license: ref }));
  const { certificate } = await step(
    server.admin.generateCertificate({ license_id, common_name: unique('client') }),
  );
  await step(server.admin.revokeCertificate({ id: certificate.id }));
  await step(server.admin.revokeToken({ id: token.id }));
  await step(server.admin.releaseDevice({ ref, machine_fingerprint: activation.machine_fingerprint }));
  await step(server.admin.revokeLicense({ ref, reason: 'the end' }));
  return license;
}

const WHOLE_LIFE = [
  'license.revoked',
  'license.revoked',
  'device.released',
  'token.revoked',
  'certificate.revoked',
  'certificate.revoked',
  'certificate.generated',
  'certificate.generated',
  'token.issued',
  'device.activated',
  'license.activated',
  'license.created',
];

describe('the timeline of a license', () => {
  it('shows the history of the license and its objects, newest first', async () => {
    const license = await eventfulLicense();
    await eventfulLicense();
    const { items, next_cursor } = await adminSuccess(server, 'licenseTimeline', {
      license: license.license_key,
    });
    expect(namesOf({ items })).toEqual(WHOLE_LIFE);
    expect(next_cursor).toBeNull();
    const [revocation, told] = items;
    expect(revocation).toMatchObject({
      kind: 'change',
      actor_kind: 'cli',
      detail: { before: { state: 'active' }, after: { state: 'revoked', revoke_reason: 'the end' } },
    });
    expect(told).toMatchObject({
      at: revocation.at as string,
      kind: 'event',
      actor_kind: null,
      actor_name: null,
      request_id: null,
      detail: { event: 'license.revoked', license_id: license.license_id, reason: 'the end' },
    });
    expect(items.at(-1)).toMatchObject({ detail: { before: null, after: license } });
  });

  it('shows which request caused a change', async () => {
    const { license_id } = await newLicense(server);
    const headers = { ...(await newBearer(server)), 'x-request-id': 'timeline-1' };
    await server.post('/renew/', { license_id, days: 1 }, headers);
    const { items } = await adminSuccess(server, 'licenseTimeline', {
      license: String(license_id),
      limit: 1,
    });
    expect(items).toMatchObject([
      { name: 'license.renewed', actor_kind: 'api_token', request_id: 'timeline-1' },
    ]);
  });

  it.each([1, 2, 5])(
    'comes in pages of %i that miss and repeat nothing, also while it grows',
    async (limit) => {
      const license = (await eventfulLicense()).license_key;
      const names: string[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: { name: string }[]; next_cursor: string | null } = await adminSuccess(
          server,
          'licenseTimeline',
          { license, limit, ...(cursor === null ? {} : { cursor }) },
        );
        names.push(...namesOf(page));
        cursor = page.next_cursor;
        const { authorization_token } = await server.admin.issueToken({
          license: (await newLicense(server)).license_key,
        });
        await server.admin.revokeToken({ id: authorization_token.id });
      } while (cursor !== null);
      expect(names).toEqual(WHOLE_LIFE);
    },
  );

  it('needs a license, and a cursor that a page gave out', async () => {
    const { license_key: license } = await newLicense(server);
    expectFailure(await callAdmin(server, 'licenseTimeline', { license: '999999' }), 'license_not_found');
    expectFailure(await callAdmin(server, 'licenseTimeline', {}), 'invalid_request');
    expectFailure(await callAdmin(server, 'licenseTimeline', { license: 'x' }), 'invalid_request');
    for (const cursor of ['', '5', '5.change', '5.other.5', 'x.change.5', '5.change.5.5']) {
      expectFailure(await callAdmin(server, 'licenseTimeline', { license, cursor }), 'invalid_request');
    }
  });
});

describe('deliveries', () => {
  it('are listed for one license, beside what else they are narrowed down to', async () => {
    const [all, revocations] = [
      await plantWebhook(server.dataDir, 'all'),
      await plantWebhook(server.dataDir, 'license.revoked'),
    ];
    const [one, other] = [await newLicense(server), await newLicense(server)];
    for (const { license_key: ref } of [one, other]) {
      await server.admin.renewLicense({ ref });
      await server.admin.revokeLicense({ ref });
    }
    const list = async (input: object) =>
      (await adminSuccess(server, 'listDeliveries', { license: one.license_key, ...input })).items.map(
        ({ event, webhook_id }: { event: string; webhook_id: number }) => [event, webhook_id],
      );
    expect(await list({})).toEqual([
      ['license.revoked', revocations],
      ['license.revoked', all],
      ['license.renewed', all],
    ]);
    expect(await list({ license: String(other.license_id), webhook_id: revocations })).toEqual([
      ['license.revoked', revocations],
    ]);
    expect(await list({ event: 'license.renewed' })).toEqual([['license.renewed', all]]);
    expect(await list({ status: 'cancelled' })).toEqual([]);
    const first = await adminSuccess(server, 'listDeliveries', { license: one.license_key, limit: 2 });
    const second = await adminSuccess(server, 'listDeliveries', {
      license: one.license_key,
      limit: 2,
      cursor: first.next_cursor,
    });
    expect([...first.items, ...second.items]).toHaveLength(3);
    expectFailure(await callAdmin(server, 'listDeliveries', { license: '999999' }), 'license_not_found');
    expectFailure(await callAdmin(server, 'listDeliveries', { license: 'x' }), 'invalid_request');
  });
});
