// A restore into PostgreSQL while the disk of the data directory, which keeps the data from before, fills up.
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RestoreCompletedError } from '#server/wiring/compose-administration.ts';
import { saveBackup, uploadBackup } from '../helpers/backup-file.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const MEGABYTE = 1024 * 1024;

const disk = mountSmallDisk(96);
const why = !hasPostgres
  ? ' (skipped: Debian package postgresql is not installed)'
  : typeof disk === 'string'
    ? ` (skipped: ${disk})`
    : '';

it.skipIf(why !== '')(`is noticed before the restore is confirmed, or cancels it${why}`, async () => {
  const small = disk as SmallDisk;
  onTestFinished(small.unmount);
  const filler = join(small.path, 'filler');
  const leave = (bytes: number) => {
    const { bavail, bsize } = statfsSync(small.path);
    writeFileSync(filler, Buffer.alloc(bavail * bsize - bytes));
  };
  const free = () => rmSync(filler);

  const dataDir = join(small.path, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  const url = await newMigratedPostgresDatabase();
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ database_url: url }), { mode: 0o600 });
  const licenses = async () =>
    (
      (await selectRows(url, 'SELECT license_key FROM licenses ORDER BY id')) as { license_key: string }[]
    ).map(({ license_key }) => license_key);
  const start = async () => {
    const server = await startTestServer({ dataDir });
    onTestFinished(() => server.stop());
    return server;
  };
  let server = await start();
  const { license_key: restored } = await newLicense(server);
  const backup = await saveBackup(server, join(temporaryDirectory(), 'backup.tar'));
  const { license_key: newer } = await newLicense(server);
  const preview = async ({ admin }: TestServer) => {
    await uploadBackup(server, new Uint8Array(backup));
    return admin.previewRestore({ kind: 'upload', accept_unsigned: true });
  };

  const { restore_id } = await preview(server);
  const refused = {
    code: 'invalid_request',
    message: expect.stringMatching(
      /^not enough disk space in .*data for the data from before the restore, .*; nothing has changed; free some space/u,
    ) as string,
  };
  for (const bytes of [32 * MEGABYTE, MEGABYTE / 4]) {
    leave(bytes);
    await expect(server.admin.confirmRestore({ restore_id })).rejects.toMatchObject(refused);
    expect((await server.admin.showRestore({})).staged).toBeNull();
    free();
  }
  await server.admin.confirmRestore({ restore_id });
  await server.stop();

  // Filled after the confirmation.
  leave(MEGABYTE / 4);
  await expect(startTestServer({ dataDir })).rejects.toThrow(
    /was canceled, and nothing has changed: the disk of the data directory is full/u,
  );
  free();
  server = await start();
  expect(await server.admin.showRestore({})).toMatchObject({
    canceled: { reason: expect.stringContaining('the disk of the data directory is full') as string },
    before: [],
  });
  expect(await licenses()).toEqual([restored, newer]);

  const again = await preview(server);
  await server.admin.confirmRestore({ restore_id: again.restore_id });
  await server.stop();
  await expect(startTestServer({ dataDir })).rejects.toThrow(RestoreCompletedError);
  expect(await licenses()).toEqual([restored]);
});
