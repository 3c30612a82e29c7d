// Restores that are refused: each says why in one line, and changes nothing.
import { cpSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import {
  entriesOf,
  forge,
  PASSPHRASE,
  restore,
  type RestoreOptions,
  saveBackup,
  spoil,
  tarOf,
  uploadBackup,
} from '../helpers/backup-file.ts';
import { selectRows } from '../helpers/database.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { startTestServer } from '../helpers/test-server.ts';

const server = sharedServer();
/** The data directory of another installation, which was stopped. */
const other = temporaryDirectory();
const files: { withKey?: Buffer; withoutKey?: Buffer } = {};

beforeAll(async () => {
  await (await startTestServer({ dataDir: other })).stop();
  const file = join(temporaryDirectory(), 'backup.tar');
  files.withKey = await saveBackup(server, file, PASSPHRASE);
  files.withoutKey = await saveBackup(server, file);
});

/** A directory with other data, and a backup from elsewhere: encrypted under the passphrase if there is one. */
async function prepare(passphrase?: string) {
  const dataDir = await keptDataDir();
  cpSync(other, dataDir, { recursive: true });
  const file = join(await keptDataDir(), 'backup.tar');
  writeFileSync(file, (passphrase === undefined ? files.withoutKey : files.withKey) ?? '');
  return { dataDir, file, before: snapshotOf(dataDir) };
}

async function expectRefused(
  { dataDir, file, before }: Awaited<ReturnType<typeof prepare>>,
  message: RegExp,
  options: RestoreOptions = {},
): Promise<void> {
  const failure: unknown = await restore(file, dataDir, options).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect((failure as Error).message).toMatch(message);
  expect((failure as Error).message).not.toContain('\n');
  expect(snapshotOf(dataDir)).toEqual(before);
  expect(
    readdirSync(dataDir).filter((name) => name.startsWith('before') || name.startsWith('restore')),
  ).toEqual([]);
}

it('with a wrong passphrase', async () => {
  const prepared = await prepare(PASSPHRASE);
  await expectRefused(prepared, /the passphrase is wrong or the file was altered$/u, {
    passphrase: 'Prilis zlutoucky kun',
  });
});

it('without the passphrase of an encrypted backup', async () => {
  const prepared = await prepare(PASSPHRASE);
  await expectRefused(prepared, /backup\.tar is encrypted: enter its passphrase$/u);
});

it('with a passphrase for a backup that was made without one', async () => {
  const options = { passphrase: PASSPHRASE, acceptUnsigned: true };
  await expectRefused(await prepare(), /is not encrypted and does not contain a master key/u, options);
});

it('without --accept-unsigned for a backup that no passphrase authenticates', async () => {
  await expectRefused(await prepare(), /is not authenticated: .*--accept-unsigned restores it anyway$/u, {
    acceptUnsigned: false,
  });
});

it('with the master key of another installation', async () => {
  await expectRefused(await prepare(), /master\.key does not belong to this backup/u);
  const masterKey = Buffer.alloc(32, 1).toString('base64');
  await expectRefused(await prepare(), /LICENSE_DESK_MASTER_KEY does not belong to this backup/u, {
    masterKey,
  });
});

it('without any master key', async () => {
  const { file } = await prepare();
  const dataDir = await keptDataDir();
  await expect(restore(file, dataDir)).rejects.toThrow(/copy your separately stored master\.key into/u);
  expect(readdirSync(dataDir)).toEqual(['server.lock']);
});

it('where anything in the file is damaged', async () => {
  const prepared = await prepare();
  const whole = readFileSync(prepared.file);
  const again = (change: () => void) => {
    writeFileSync(prepared.file, whole);
    change();
  };
  again(() => spoil(prepared.file, 'license-desk.db', 20_000));
  await expectRefused(prepared, /is damaged: the SHA-256 of license-desk\.db does not match/u);
  again(() => spoil(prepared.file, 'manifest.json', 0));
  await expectRefused(prepared, /is damaged: manifest\.json is not valid JSON/u);
  for (const length of [whole.length - 40_000, 3000, 700, 0]) {
    again(() => truncateSync(prepared.file, length));
    await expectRefused(prepared, /is damaged|is not a License Desk backup/u);
  }
});

it('where a page of the database in the backup is damaged', async () => {
  const prepared = await prepare();
  const working = await keptDataDir();
  const path = join(working, 'license-desk.db');
  const archive = readFileSync(prepared.file);
  writeFileSync(path, entriesOf(archive).get('license-desk.db') ?? '');
  // Nothing of a preview reads this table.
  const sql = `SELECT rootpage, page_size FROM sqlite_master, pragma_page_size WHERE name = 'license_imports'`;
  const [{ rootpage, page_size }] = (await selectRows(working, sql)) as [Record<string, number>];
  const database = readFileSync(path).fill(0xff, (rootpage! - 1) * page_size!, rootpage! * page_size!);
  writeFileSync(
    prepared.file,
    await forge(archive, (parts) => {
      parts['license-desk.db'] = database;
    }),
  );
  await expectRefused(
    prepared,
    /backup\.tar is damaged: its database has an error \(.+\); nothing has changed; restore another backup$/u,
  );

  // The same in the back office, and in the data from before a restore.
  await uploadBackup(server, new Uint8Array(readFileSync(prepared.file)));
  await expect(server.admin.previewRestore({ kind: 'upload', accept_unsigned: true })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(
      /^the uploaded file is damaged: its database has an error \(.+\); nothing has changed/u,
    ) as string,
  });
  const folder = join(server.dataDir, 'before-restore-20260101T000000Z');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, 'license-desk.db'), database, { mode: 0o600 });
  await expect(
    server.admin.previewRestore({ kind: 'before', name: 'before-restore-20260101T000000Z' }),
  ).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringMatching(
      /^before-restore-20260101T000000Z is damaged: its database has an error \(.+\); nothing has changed/u,
    ) as string,
  });
});

it('where the file is something else', async () => {
  const prepared = await prepare();
  writeFileSync(prepared.file, 'Dear diary, '.repeat(1000));
  await expectRefused(prepared, /is not a License Desk backup$/u);
  writeFileSync(prepared.file, await tarOf({ 'diary.txt': 'Dear diary' }));
  await expectRefused(prepared, /is not a License Desk backup$/u);
  await expectRefused(
    { ...prepared, file: join(prepared.dataDir, 'nothing.tar') },
    /nothing\.tar cannot be read: no such file or directory$/u,
  );
});

it('where it was made by a newer version', async () => {
  const prepared = await prepare();
  const archive = readFileSync(prepared.file);
  const manifest = entriesOf(archive).get('manifest.json');
  const schema = /"schema": "(\d{4})/u.exec(manifest?.toString() ?? '')?.[1] ?? '';
  manifest?.write('9999', manifest.indexOf(`"${schema}`) + 1);
  writeFileSync(prepared.file, archive);
  await expectRefused(
    prepared,
    /was made by a newer version of License Desk \(0\.1\.0\); install that version or a later one/u,
  );
});
