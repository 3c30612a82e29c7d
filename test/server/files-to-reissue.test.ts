// Which license files must be issued again after their signing key has leaked. A file that was issued later under another
// key may never have reached the device.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  newFingerprint,
  newLicense,
  success,
} from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

/** PostgreSQL if the Debian package is installed. */
const PLACES = ['SQLite', ...(hasPostgres ? ['PostgreSQL'] : [])];

describe.each(PLACES)('files that another key signed again, on %s', (place) => {
  let server: TestServer;
  beforeAll(async () => {
    const flags = place === 'PostgreSQL' ? { 'database-url': await newMigratedPostgresDatabase() } : {};
    server = await startTestServer({ flags });
  });
  afterAll(() => server.stop());

  /** @returns the ID of the key that signed files until now */
  async function rotate(): Promise<string> {
    const { key_id } = await server.admin.publicKey({});
    await server.admin.rotateSigningKey({});
    return key_id;
  }

  async function listed(key_id: string) {
    const { items, total } = await adminSuccess(server, 'listFilesToReissue', { key_id });
    expect(items).toHaveLength(total as number);
    return items as {
      license_id: number;
      machine_fingerprint: string | null;
      newer_file_at: string | null;
    }[];
  }

  const distrust = (key_id: string) => server.admin.distrustSigningKey({ key_id });
  const issue = (license: { license_key: string }, device: { machine_fingerprint?: string } = {}) =>
    server.admin.issueLicenseFile({ license: license.license_key, ...device });

  async function activated() {
    const license = await newLicense(server, { plan: 'professional' });
    const { license_file, activation } = await activateDevice(server, license);
    return { license, license_file, device: { machine_fingerprint: activation.machine_fingerprint } };
  }

  const newer = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/u) as string;

  it('are listed if they are bound to no device, until one is issued after the distrust', async () => {
    await rotate();
    const license = await newLicense(server);
    await issue(license);
    const leaked = await rotate();
    await issue(license);
    expect(await distrust(leaked)).toMatchObject({ files_to_reissue: 1 });
    expect(await listed(leaked)).toEqual([
      expect.objectContaining({
        license_id: license.license_id,
        machine_fingerprint: null,
        recorded: true,
        newer_file_at: newer,
      }),
    ]);
    await issue(license);
    expect(await listed(leaked)).toEqual([]);
  });

  describe('for a device', () => {
    type Device = Awaited<ReturnType<typeof activated>>;
    const ways: Record<string, (of: Device, file: string) => Promise<string>> = {
      'the air-gap desk': async ({ license, device }) => (await issue(license, device)).license_file,
      'its next activation': async ({ license, device }) =>
        (await activateDevice(server, license, device)).license_file,
      'the exchange of an outdated one': async ({ license }, license_file) => {
        await server.admin.renewLicense({ ref: license.license_key, days: 1 });
        const reply = await success(server, 'validateOffline', { license_file });
        return reply.license_file as string;
      },
    };

    it.each(Object.entries(ways))('are listed until %s gives out one after the distrust', async (_, way) => {
      await rotate();
      const used = await activated();
      const leaked = await rotate();
      const second = await way(used, used.license_file);
      const { key_id } = await server.admin.publicKey({});
      expect(await distrust(leaked)).toMatchObject({ key_id, files_to_reissue: 1 });
      const file = { license_id: used.license.license_id, ...used.device, newer_file_at: newer };
      expect(await listed(leaked)).toMatchObject([file]);
      await way(used, second);
      expect(await listed(leaked)).toEqual([]);
    });

    it('are no longer listed once the device has lost its seat', async () => {
      await rotate();
      const [released, replaced] = [await activated(), await activated()];
      const leaked = await rotate();
      for (const { license, device } of [released, replaced]) await issue(license, device);
      expect(await distrust(leaked)).toMatchObject({ files_to_reissue: 2 });
      await server.admin.releaseDevice({ ref: released.license.license_key, ...released.device });
      await server.admin.replaceDevice({
        ref: replaced.license.license_key,
        ...replaced.device,
        new_machine_fingerprint: newFingerprint(),
      });
      expect(await listed(leaked)).toEqual([]);
    });
  });

  it('are listed for each of several leaked keys, page by page', async () => {
    await rotate();
    const { license, device } = await activated();
    await issue(license);
    const first = await rotate();
    await issue(license);
    await issue(license, device);
    const second = await rotate();
    await issue(license);
    await issue(license, device);
    for (const leaked of [first, second])
      expect(await distrust(leaked)).toMatchObject({ files_to_reissue: 2 });
    for (const key_id of [first, second]) {
      const page = await server.admin.listFilesToReissue({ key_id, limit: 1 });
      const rest = await server.admin.listFilesToReissue({ key_id, cursor: page.next_cursor ?? '' });
      const devices = [...page.items, ...rest.items].map((file) => file.machine_fingerprint);
      expect(devices).toEqual([null, device.machine_fingerprint]);
    }
    await issue(license, device);
    for (const leaked of [first, second])
      expect(await listed(leaked)).toMatchObject([{ machine_fingerprint: null }]);
    await issue(license);
    for (const leaked of [first, second]) expect(await listed(leaked)).toEqual([]);
  });
});

describe('files from before all keys of a file were on record', () => {
  it('are found by the audit log and by the times of activations', async () => {
    const dataDir = await keptDataDir();
    const old = await startTestServer({ dataDir });
    const { key_id: leaked } = await old.admin.publicKey({});
    const license = await newLicense(old, { plan: 'professional' });
    const { license_key } = license;
    const again = (await activateDevice(old, license)).activation;
    const inferred = (await activateDevice(old, license)).activation;
    await old.admin.issueLicenseFile({ license: license_key });
    const { key_id: second } = await old.admin.rotateSigningKey({});
    const settled = (await activateDevice(old, license)).activation;
    const issue = (on: TestServer, { machine_fingerprint }: { machine_fingerprint: string }) =>
      on.admin.issueLicenseFile({ license: license_key, machine_fingerprint });
    await issue(old, again);
    await old.admin.issueLicenseFile({ license: license_key });
    await old.admin.distrustSigningKey({ key_id: second });
    await issue(old, settled);
    await old.stop();
    await writeRows(
      dataDir,
      `DELETE FROM migrations WHERE name = '0029-earlier-files'`,
      'DROP TABLE earlier_license_files',
      'DROP TABLE borrowed_lease_files',
      `UPDATE activations SET signing_key_id = NULL WHERE id = ${inferred.id}`,
    );

    const upgraded = await startTestServer({ dataDir });
    const filesUnder = async (key_id: string) =>
      (await upgraded.admin.listFilesToReissue({ key_id })).items.map((file) => [
        file.machine_fingerprint,
        file.recorded,
        file.newer_file_at !== null,
      ]);
    const unbound = [null, true, true];
    const [one, other] = [again.machine_fingerprint, inferred.machine_fingerprint];
    expect(await filesUnder(leaked)).toEqual([unbound, [one, false, true], [other, false, false]]);
    expect(await filesUnder(second)).toEqual([
      [null, true, false],
      [one, true, false],
      [other, false, false],
    ]);
    await issue(upgraded, inferred);
    await upgraded.admin.distrustSigningKey({ key_id: leaked });
    expect(await filesUnder(leaked)).toEqual([unbound, [one, false, true], [other, false, true]]);
    await upgraded.stop();
  });
});
