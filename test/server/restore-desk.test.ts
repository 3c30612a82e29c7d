// Restores from the back office: a running server previews them, and its next start puts them in place.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RestoreCompletedError } from '#server/wiring/compose-administration.ts';
import { PASSPHRASE, saveBackup, uploadBackup } from '../helpers/backup-file.ts';
import { runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const dataDir = temporaryDirectory();
const folder = temporaryDirectory();
const flags = { 'backup-folder': folder };
const options = { dataDir, flags };

const leftovers = () => readdirSync(dataDir).filter((name) => name.startsWith('restore-'));
const licenses = async (server: TestServer) =>
  (await server.admin.listLicenses({ limit: 50 })).items.map(({ license_key: key }) => key);

/** The start that puts a restore in place reads its settings again; under a supervisor or a service, in one process. */
async function restart(server: TestServer): Promise<TestServer> {
  await server.stop();
  await expect(startTestServer(options)).rejects.toThrow(RestoreCompletedError);
  return startTestServer(options);
}

it('previews, confirms, restores at the next start, and returns', async () => {
  writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 61 }');
  let server = await startTestServer(options);
  const { license_key: kept } = await newLicense(server);
  const file = join(folder, 'license-desk-20260131T120000Z.ldbackup');
  const bytes = await saveBackup(server, file, PASSPHRASE);
  const { license_key: lost } = await newLicense(server);
  await server.admin.revokeLicense({ ref: kept });
  writeFileSync(join(folder, 'notes.txt'), 'no backup');
  mkdirSync(join(folder, 'license-desk-folder.tar'));
  expect(await server.admin.showRestore({})).toMatchObject({
    folder_problem: null,
    files: [{ name: 'license-desk-20260131T120000Z.ldbackup', bytes: bytes.length, encrypted: true }],
    upload: null,
    before: [],
    staged: null,
    last: null,
    restart: false,
  });

  // What does not work changes nothing.
  const source = { kind: 'folder', name: 'license-desk-20260131T120000Z.ldbackup' } as const;
  for (const [request, message] of [
    [{ ...source }, 'is encrypted: enter its passphrase'],
    [{ ...source, passphrase: 'wrong passphrase' }, 'cannot be decrypted: the passphrase is wrong'],
    [{ kind: 'folder', name: '../../etc/passwd' }, 'backup not found'],
    [{ kind: 'folder', name: 'license-desk-folder.tar' }, 'backup not found'],
    [{ kind: 'before', name: 'before-restore-20200101T000000Z' }, 'backup not found'],
    [{ kind: 'upload' }, 'there is no upload'],
  ] as const)
    await expect(server.admin.previewRestore(request)).rejects.toThrow(message);
  expect(leftovers()).toEqual([]);

  // Two at a time: one is refused, and the other one goes on.
  const both = await Promise.allSettled([
    server.admin.previewRestore({ ...source, passphrase: PASSPHRASE }),
    server.admin.previewRestore({ ...source, passphrase: PASSPHRASE }),
  ]);
  expect(both.filter(({ status }) => status === 'rejected')).toMatchObject([
    { reason: { message: 'another restore is being prepared; try again when it is done' } },
  ]);
  const { restore_id, preview } = both.find((one) => one.status === 'fulfilled')!.value;
  expect(preview).toMatchObject({
    authenticated: true,
    counts: { licenses: 1 },
    present: {
      counts: { licenses: 2 },
      same_installation: true,
      revived: { licenses: { count: 1, items: [{ license_key: kept }] } },
    },
  });
  await server.admin.cancelRestore({});
  expect(leftovers()).toEqual([]);
  await expect(server.admin.confirmRestore({ restore_id })).rejects.toThrow('this preview has expired');

  const again = await server.admin.previewRestore({ ...source, passphrase: PASSPHRASE });
  const confirmed = await server.admin.confirmRestore({ restore_id: again.restore_id });
  // The next start would replace the data after its move.
  const target = ['--to', 'postgres://127.0.0.1:1/desk'];
  const { stderr } = await runCli(['move-database', ...target, '--json', '--data-dir', dataDir]);
  expect(stderr).toContain('a confirmed restore is waiting for a restart of the server');
  expect(confirmed).toMatchObject({
    restarting: false,
    restart_advice: expect.stringMatching(
      /^Stop the server where it was started, then start it again\./u,
    ) as string,
  });
  // Closing an earlier preview leaves it in place.
  await server.admin.cancelRestore({ restore_id });
  // Withdrawn, then confirmed again.
  expect((await server.admin.showRestore({})).staged).toMatchObject({ source: source.name });
  await expect(server.admin.previewRestore(source)).rejects.toThrow('is waiting for a restart of the server');
  await server.admin.cancelRestore({});
  expect(leftovers()).toEqual([]);
  const third = await server.admin.previewRestore({ ...source, passphrase: PASSPHRASE });
  await server.admin.confirmRestore({ restore_id: third.restore_id });
  // The server goes on with the old data.
  expect(await licenses(server)).toEqual(expect.arrayContaining([kept, lost]));
  writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 62 }');

  server = await restart(server);
  expect(await licenses(server)).toEqual([kept]);
  expect(readFileSync(join(dataDir, 'config.json'), 'utf8')).toContain('61');
  expect(leftovers()).toEqual([]);
  const { last, before } = await server.admin.showRestore({});
  expect(last).toMatchObject({ source: source.name, before: before[0]?.name });
  expect(Date.parse(last?.restored_at as string)).toBeGreaterThan(Date.parse(last?.created_at as string));
  const entries = (await server.admin.listAudit({ action: 'backup.restored', limit: 5 })).items;
  expect(entries).toMatchObject([{ actor_name: 'tester' }]);

  // Back to what was there before.
  const back = await server.admin.previewRestore({ kind: 'before', name: before[0]?.name as string });
  expect(back.preview).toMatchObject({ authenticated: true, counts: { licenses: 2 } });
  await server.admin.confirmRestore({ restore_id: back.restore_id });
  server = await restart(server);
  expect(await licenses(server)).toEqual(expect.arrayContaining([kept, lost]));
  expect(readFileSync(join(dataDir, 'config.json'), 'utf8')).toContain('62');
  expect((await server.admin.showRestore({})).before).toHaveLength(2);

  // An upload: streamed, one at a time, and gone when it is cut off, replaced, cancelled or the server stops.
  expect(await (await uploadBackup(server, new Uint8Array(bytes))).json()).toMatchObject({
    encrypted: true,
    bytes: bytes.length,
  });
  const giveUp = new AbortController();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const hanging = uploadBackup(server, readable, giveUp.signal);
  await writer.write(bytes.subarray(0, 1000));
  await expect.poll(() => existsSync(join(dataDir, 'restore-upload.part'))).toBe(true);
  const second = await uploadBackup(server, 'another one');
  expect(await second.json()).toMatchObject({
    error_code: 'unavailable',
    message: expect.stringContaining('another upload') as string,
  });
  giveUp.abort();
  await expect(hanging).rejects.toThrow();
  await expect.poll(leftovers).toEqual([]);
  expect((await uploadBackup(server, 'not a backup')).status).toBe(200);
  await expect(server.admin.previewRestore({ kind: 'upload' })).rejects.toThrow(
    'the uploaded file is not a License Desk backup',
  );
  await uploadBackup(server, new Uint8Array(bytes));
  // Settings that would keep the server from starting again are refused before it stops.
  const bad = join(folder, 'license-desk-bad.tar');
  writeFileSync(join(dataDir, 'config.json'), '{ "nonsense": 1 }');
  await saveBackup(server, bad);
  writeFileSync(join(dataDir, 'config.json'), '{}');
  await expect(server.admin.previewRestore({ kind: 'folder', name: 'license-desk-bad.tar' })).rejects.toThrow(
    'is not authenticated',
  );
  await expect(
    server.admin.previewRestore({ kind: 'folder', name: 'license-desk-bad.tar', accept_unsigned: true }),
  ).rejects.toThrow(
    'the server would not start with the settings in this backup: config.json has the unknown setting "nonsense"',
  );
  await server.admin.previewRestore({ kind: 'upload', passphrase: PASSPHRASE });
  expect(leftovers().toSorted()).toEqual(['restore-staging', 'restore-upload']);
  await server.stop();
  expect(leftovers()).toEqual([]);
});

it.each([
  [{ webhook_ca: '/nowhere.pem' }, '--webhook-ca is "/nowhere.pem", but must be a readable PEM file'],
  [{ backup_schedule: 'daily' }, '--backup-schedule is "daily", but --backup-folder is not set'],
  [{ admin_host: '192.0.2.1' }, '--admin-host is "192.0.2.1", which opens the back office to the network'],
])('refuses a backup with settings that the next start would refuse: %j', async (settings, reason) => {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const file = join(temporaryDirectory(), 'backup.tar');
  const configFile = join(server.dataDir, 'config.json');
  writeFileSync(configFile, JSON.stringify(settings));
  await uploadBackup(server, new Uint8Array(await saveBackup(server, file)));
  rmSync(configFile);
  await expect(server.admin.previewRestore({ kind: 'upload', accept_unsigned: true })).rejects.toThrow(
    `the server would not start with the settings in this backup: ${reason}`,
  );
});

it('previews the upload that was named, or none', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const backup = await saveBackup(server, join(temporaryDirectory(), 'backup.tar'));
  const upload = async () => {
    const reply = await uploadBackup(server, new Uint8Array(backup));
    return ((await reply.json()) as { upload_id: string }).upload_id;
  };
  const preview = (upload_id: string) =>
    server.admin.previewRestore({ kind: 'upload', upload_id, accept_unsigned: true });
  const first = await upload();
  expect((await server.admin.showRestore({})).upload).toMatchObject({ upload_id: first });
  const { restore_id } = await preview(first);

  // The same bytes, but not what the administrator has chosen.
  const second = await upload();
  expect(second).not.toBe(first);
  await expect(preview(first)).rejects.toThrow('another upload has replaced this file');
  expect((await preview(second)).restore_id).not.toBe(restore_id);
});
