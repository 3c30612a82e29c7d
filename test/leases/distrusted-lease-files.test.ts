// Lease files of borrowed seats under a signing key that leaked: listed until they are replaced, and no proof any more.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueLicenseFile } from '#server/features/signing/license-file-issuer.ts';
import { runCli } from '../helpers/cli.ts';
import {
  adminSuccess,
  newFingerprint,
  newFloatingLicense,
  newInstanceId,
  success,
} from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { leakedKey } from '../helpers/leaked-key.ts';
import { lease, seatsOf } from '../helpers/leases.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

/** Borrows the seat of a new license, for a user on a host. */
async function borrowed(server: TestServer, fields: object = {}) {
  const license = await newFloatingLicense(server, { seats: 1 });
  const instance_id = newInstanceId();
  const taken = await lease(server, license, { instance_id, user: 'Ada', host: 'workstation-7' });
  const { lease_token } = taken;
  const machine_fingerprint = newFingerprint();
  const borrow = async (hours: number) => {
    const request = { lease_token, hours, machine_fingerprint, ...fields };
    const reply = await success(server, 'borrowLease', request);
    return reply as { lease: { lease_id: number; expires_at: string }; lease_file: string };
  };
  const { lease: loan, lease_file } = await borrow(1);
  return { license, instance_id, lease_token, machine_fingerprint, borrow, loan, lease_file };
}

/** @returns the ID of the key that signed files until now */
async function rotate(server: TestServer): Promise<string> {
  const { key_id } = await server.admin.publicKey({});
  await server.admin.rotateSigningKey({});
  return key_id;
}

/** PostgreSQL if the Debian package is installed. */
const PLACES = ['SQLite', ...(hasPostgres ? ['PostgreSQL'] : [])];

describe.each(PLACES)('lease files of borrowed seats, on %s', (place) => {
  let server: TestServer;
  beforeAll(async () => {
    const flags = place === 'PostgreSQL' ? { 'database-url': await newMigratedPostgresDatabase() } : {};
    server = await startTestServer({ flags });
  });
  afterAll(() => server.stop());

  const listed = async (key_id: string) =>
    (await adminSuccess(server, 'listFilesToReissue', { key_id })).items as unknown[];

  it('are listed with license, device and end', async () => {
    await rotate(server);
    const { license, machine_fingerprint, loan } = await borrowed(server);
    // The client of a lease that is not borrowed gets a new file from its next checkout.
    await lease(server, await newFloatingLicense(server));
    const { key_id } = await server.admin.publicKey({});
    expect(await server.admin.distrustSigningKey({ key_id })).toMatchObject({ files_to_reissue: 1 });
    const { license_id, license_key, holder } = license;
    expect(await listed(key_id)).toEqual([
      expect.objectContaining({
        license_id,
        license_key,
        holder,
        lease_id: loan.lease_id,
        user: 'Ada',
        host: 'workstation-7',
        machine_fingerprint,
        borrowed_until: loan.expires_at,
        recorded: true,
        newer_file_at: null,
      }),
    ]);
  });

  type Loan = Awaited<ReturnType<typeof borrowed>>;
  const ways: Record<string, (loan: Loan) => Promise<unknown>> = {
    'the device gets a new file': ({ borrow }) => borrow(2),
    'the client recovers its lease': ({ license, instance_id }) =>
      lease(server, license, { instance_id, user: 'Ada', host: 'workstation-7' }),
    'the seat is returned by its token': ({ lease_token }) => success(server, 'returnLease', { lease_token }),
    'an administrator reclaims the seat': ({ loan: { lease_id } }) =>
      server.admin.reclaimLease({ lease_id, reason: 'key leaked' }),
  };
  it.each(Object.entries(ways))('are listed until %s', async (_, way) => {
    await rotate(server);
    const loan = await borrowed(server);
    const key_id = await rotate(server);
    // Extended under the next key, which the device may not know of.
    await loan.borrow(2);
    expect(await server.admin.distrustSigningKey({ key_id })).toMatchObject({ files_to_reissue: 1 });
    const until = { borrowed_until: loan.loan.expires_at, newer_file_at: expect.any(String) as string };
    expect(await listed(key_id)).toMatchObject([until]);
    await way(loan);
    expect(await listed(key_id)).toEqual([]);
  });
});

describe('a lease file under a distrusted key', () => {
  const server = sharedServer();

  it('returns no seat, and the message says why', async () => {
    const { license, loan, lease_file } = await borrowed(server);
    const encrypted = await borrowed(server, { encrypt: true });
    const { key_id } = await server.admin.publicKey({});
    await server.admin.distrustSigningKey({ key_id });
    const forged = issueLicenseFile({
      license: license as never,
      lease: {
        lease_id: loan.lease_id,
        state: 'borrowed',
        units: 1,
        feature: null,
        counted_as: 'process:forged',
        issued_at: new Date().toISOString(),
        expires_at: loan.expires_at,
      },
      machine: null,
      issuedAt: Date.now(),
      ttlMs: Date.parse(loan.expires_at) - Date.now(),
      issuer: 'License Desk',
      ...(await leakedKey(server.dataDir, key_id)),
    });
    for (const file of [lease_file, forged, encrypted.lease_file]) {
      const reply = await server.post('/leases/return/', { lease_file: file });
      expectFailure(reply, 'invalid_request');
      expect(reply.body.message).toBe(
        `lease_file: is signed with the key ${key_id}, which is no longer trusted, because others can sign with it; ` +
          'return the seat with its lease_token, or have an administrator reclaim the lease',
      );
    }
    expect((await seatsOf(server.dataDir, license.license_id)).counted).toMatchObject({ borrowed: 1 });
    await server.admin.reclaimLease({ lease_id: loan.lease_id, reason: 'key leaked' });
    expect((await lease(server, license)).pool).toMatchObject({ in_use: 1, borrowed: 0 });
  });

  it('is listed on the command line', async () => {
    const { license, loan } = await borrowed(server);
    const { key_id } = await server.admin.publicKey({});
    const run = async (...words: string[]) =>
      (await runCli(['signing-key', ...words, '--data-dir', server.dataDir])).stdout;
    expect(await run('distrust', key_id, '--yes')).toContain('License and lease files to reissue: 1 ');
    const [titles, row] = (await run('files', key_id)).split('\n');
    expect(titles).toMatch(/DEVICE +SINCE +NEWER FILE +LEASE +BORROWED UNTIL/u);
    const end = loan.expires_at.slice(0, 10);
    const cells = `${license.license_key} .* workstation-7 +\\S+ +– +${loan.lease_id} +${end}`;
    expect(row).toMatch(new RegExp(cells, 'u'));
  });

  it('is on record after an upgrade, as long as its seat is borrowed', async () => {
    const dataDir = await keptDataDir();
    const old = await startTestServer({ dataDir });
    const ended = await borrowed(old);
    const kept = await borrowed(old);
    await success(old, 'returnLease', { lease_token: ended.lease_token });
    const key_id = await rotate(old);
    await borrowed(old);
    await old.stop();
    await writeRows(
      dataDir,
      `DELETE FROM migrations WHERE name = '0029-earlier-files'`,
      'DROP TABLE earlier_license_files',
      'DROP TABLE borrowed_lease_files',
    );
    const upgraded = await startTestServer({ dataDir });
    const { items } = await upgraded.admin.listFilesToReissue({ key_id });
    expect(items).toMatchObject([
      { lease_id: kept.loan.lease_id, borrowed_until: kept.loan.expires_at, newer_file_at: null },
    ]);
    await upgraded.stop();
  });
});
