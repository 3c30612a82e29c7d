// What happens between the confirmation of a restore in the back office and the start that puts it in place: the preview did
// not show it, so what relying parties and verifiers have seen must not be lost.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { RestoreCompletedError } from '#server/wiring/compose-administration.ts';
import { readDistrustList } from '../../verifier/distrust-list.ts';
import { verifyEd25519 } from '../../verifier/ed25519.ts';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { makeForeignAuthority } from '../certificates/foreign-authority.ts';
import { issue, serialsIn } from '../certificates/issuing.ts';
import { saveBackup, uploadBackup } from '../helpers/backup-file.ts';
import { CLI_PROGRAM, cliOn, runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { listAs } from '../helpers/crl.ts';
import { writeRows } from '../helpers/database.ts';
import { longTest } from '../helpers/long-test.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

/** More than a restore goes ahead by itself. */
const CRL_NUMBER = 10_000_000_000;
const SEQUENCE = 20_000_000_000;

/** Not if it was canceled. */
const COMPLETED = /^a confirmed or interrupted restore has been completed/u;

const helper = (name: string) => resolve(import.meta.dirname, '../helpers', name);

async function serveAt(dataDir: string) {
  const server = await startTestServer({ dataDir });
  onTestFinished(() => server.stop());
  return server;
}

/** Starts a server that is killed while it puts the restore in place. */
async function startAndKill(dataDir: string, killer: string, env: Record<string, string>): Promise<void> {
  const words = ['serve', '--data-dir', dataDir, '--port', '0', '--admin-port', '0'];
  const server = spawn(process.execPath, ['--import', helper(killer), CLI_PROGRAM, ...words], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  expect(await once(server, 'exit')).toEqual([null, 'SIGKILL']);
  expect(readdirSync(dataDir)).toContain('restore-ready');
}

async function previewOwnBackup(server: TestServer) {
  await uploadBackup(
    server,
    new Uint8Array(await saveBackup(server, join(temporaryDirectory(), 'backup.tar'))),
  );
  return server.admin.previewRestore({ kind: 'upload', accept_unsigned: true });
}

async function confirmRestoreOf(server: TestServer): Promise<void> {
  const { restore_id } = await previewOwnBackup(server);
  await server.admin.confirmRestore({ restore_id });
}

function importAuthority({ admin }: TestServer) {
  const { certificate, key } = makeForeignAuthority({ subject: '/CN=Other' });
  return admin.importAuthority({ certificate, private_key: key });
}

type Issued = Awaited<ReturnType<typeof issue>>;
const serials = (issued: Issued[]) => issued.map(({ certificate }) => certificate.serial_number).toSorted();

/** Confirms a restore, goes on with certificates and keys, and stops. @param database where its rows are */
async function confirmAndGoOn(dataDir: string, database: string) {
  const server = await startTestServer({ dataDir });
  const { admin } = server;
  const { license_id } = await newLicense(server);
  const revoke = ({ certificate: { id } }: Issued) =>
    admin.revokeCertificate({ id, reason: 'key_compromise' });
  const [revived, early] = [await issue(server, { license_id }), await issue(server, { license_id })];
  const file = join(temporaryDirectory(), 'backup.tar');
  const backup = await saveBackup(server, file);
  // The preview shows it: the restore brings it back.
  await revoke(revived);
  const kept = await issue(server, { license_id });
  await uploadBackup(server, new Uint8Array(backup));
  const { restore_id, preview } = await admin.previewRestore({ kind: 'upload', accept_unsigned: true });
  expect(preview.present?.revived.certificates.count).toBe(1);
  // One before the confirmation, the others after it.
  await revoke(early);
  await admin.confirmRestore({ restore_id });
  await revoke(kept);
  const stolen = await issue(server, { license_id });
  await revoke(stolen);
  const good = await issue(server, { license_id });
  const orphan = await issue(server);
  const { key_id: leaked } = await admin.publicKey({});
  const { key_id: newest } = await admin.distrustSigningKey({ key_id: leaked, reason: 'stolen' });
  await server.stop();
  await writeRows(
    database,
    `UPDATE distrust_lists SET sequence = ${SEQUENCE}`,
    `UPDATE revocation_lists SET number = ${CRL_NUMBER}`,
  );
  return { file, revived, good, leaked, newest, stolen, orphan, revoked: [early, kept, stolen, orphan] };
}

async function expectKept(server: TestServer, found: Awaited<ReturnType<typeof confirmAndGoOn>>) {
  const { admin } = server;
  const { stolen, good, revived, leaked, newest, revoked } = found;
  expect(serialsIn(await listAs(server, 'der')).toSorted()).toEqual(serials(revoked));
  const list = (await server.get('/certs/crl/')).body as { crl_number: number };
  expect(list.crl_number).toBeGreaterThan(CRL_NUMBER);
  const shown = async ({ certificate: { id } }: Issued) => (await admin.showCertificate({ id })).certificate;
  const { serial_number } = stolen.certificate;
  expect(await shown(stolen)).toMatchObject({ serial_number, status: 'revoked', reason: 'key_compromise' });
  for (const one of [good, revived])
    expect(await shown(one)).toMatchObject({ serial_number: one.certificate.serial_number, status: 'good' });

  const statuses = new Map(
    (await admin.listSigningKeys({})).signing_keys.map(({ key_id, status }) => [key_id, status]),
  );
  expect([statuses.get(leaked), statuses.get(newest)]).toEqual(['distrusted', 'retired']);
  const published = await admin.publicKey({});
  const distrusted = readDistrustList(published.distrust_list as string, {
    keys: parsePublicKeys(JSON.stringify(published)),
    verifySignature: verifyEd25519,
    minSequence: SEQUENCE + 1,
  });
  expect([...distrusted.distrusted.keys()]).toEqual([leaked]);
  const entries = (await admin.listAudit({ action: 'backup.restored', limit: 5 })).items;
  expect(entries.map(({ actor_kind, after }) => [actor_kind, after])).toMatchObject([
    ['system', { certificates_kept: 2, certificates_revoked: 3 }],
    ['cli', { certificates_kept: 1, certificates_revoked: 0 }],
  ]);
}

describe('a restore that was confirmed in the back office', () => {
  it('keeps the certificates and signing keys from before the restart', async () => {
    const dataDir = temporaryDirectory();
    const found = await confirmAndGoOn(dataDir, dataDir);
    await expect(startTestServer({ dataDir })).rejects.toThrow(RestoreCompletedError);
    await expectKept(await serveAt(dataDir), found);
  });

  it('keeps them once if the start is killed before it puts the files in place', async () => {
    const dataDir = temporaryDirectory();
    const found = await confirmAndGoOn(dataDir, dataDir);
    await startAndKill(dataDir, 'kill-at-rename.ts', { KILL_AT_RENAME: '1' });
    // As if it had been killed one step earlier, before it made the folder.
    const [folder] = globSync('before-restore-*', { cwd: dataDir });
    rmdirSync(join(dataDir, folder ?? ''));
    await expect(startTestServer({ dataDir })).rejects.toThrow(RestoreCompletedError);
    await expectKept(await serveAt(dataDir), found);
  });

  it('is canceled if the current database cannot be read any more', async () => {
    const dataDir = temporaryDirectory();
    await confirmAndGoOn(dataDir, dataDir);
    const file = join(dataDir, 'license-desk.db');
    const intact = readFileSync(file);
    writeFileSync(file, 'not a database');
    await expect(startTestServer({ dataDir })).rejects.toThrow(
      /was canceled, and nothing has changed: the current database cannot be read, so .* cannot be kept: /u,
    );
    expect(readFileSync(file, 'utf8')).toBe('not a database');
    writeFileSync(file, intact);
    const server = await serveAt(dataDir);
    expect(await server.admin.showRestore({})).toMatchObject({ staged: null, last: null, before: [] });
  });

  it('keeps the certificate authority from being changed', async () => {
    const server = await serveAt(temporaryDirectory());
    const { admin } = server;
    await admin.showAuthority({});
    await confirmRestoreOf(server);
    const refusal = /cannot be changed while a confirmed restore is waiting .*restart the server, or cancel/u;
    const {
      certificate,
      key: private_key,
      certificateFile,
      keyFile,
    } = makeForeignAuthority({ subject: '/CN=Other' });
    await expect(admin.importAuthority({ certificate, private_key })).rejects.toThrow(refusal);
    await expect(admin.renewAuthority({ key_type: 'p-256' })).rejects.toThrow(refusal);
    const words = ['cert', 'import-ca', '--certificate', certificateFile, '--key', keyFile];
    const { stderr, exitCode } = await runCli([...words, '--data-dir', server.dataDir]);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.stringMatching(refusal) as string, exitCode: 1 });
    await admin.cancelRestore({});
    expect((await admin.importAuthority({ certificate, private_key })).authority.subject).toBe('CN=Other');
  });

  it('is not confirmed if the certificate authority was replaced after its preview', async () => {
    const server = await serveAt(temporaryDirectory());
    const { admin } = server;
    await admin.showAuthority({});
    const { restore_id } = await previewOwnBackup(server);
    await importAuthority(server);
    await expect(admin.confirmRestore({ restore_id })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('the certificate authority was replaced after the preview') as string,
    });
    expect((await admin.showRestore({})).staged).toBeNull();
    const { items } = await admin.listAudit({ limit: 2 });
    expect(items).toMatchObject([
      {
        action: 'backup.restore_cancelled',
        after: { reason: expect.stringContaining('the certificate authority was replaced') as string },
      },
      { action: 'backup.restore_confirmed' },
    ]);
    const again = await admin.previewRestore({ kind: 'upload', accept_unsigned: true });
    await admin.confirmRestore({ restore_id: again.restore_id });
  });

  it('is put in place although a request for the CRL has made an authority meanwhile', async () => {
    const lost = await serveAt(temporaryDirectory());
    const { authority: backedUp } = await lost.admin.showAuthority({});
    const backup = await saveBackup(lost, join(temporaryDirectory(), 'backup.tar'));
    const dataDir = temporaryDirectory();
    const masterKey = readFileSync(join(lost.dataDir, 'master.key'), 'utf8').trim();
    const server = await startTestServer({ dataDir, masterKey });
    await uploadBackup(server, new Uint8Array(backup));
    const { restore_id } = await server.admin.previewRestore({ kind: 'upload', accept_unsigned: true });
    await server.admin.confirmRestore({ restore_id });
    await listAs(server, 'der');
    await server.stop();
    await expect(startTestServer({ dataDir, masterKey })).rejects.toThrow(RestoreCompletedError);
    const again = await startTestServer({ dataDir, masterKey });
    onTestFinished(() => again.stop());
    const { authority } = await again.admin.showAuthority({});
    expect(authority.fingerprint_sha256).toBe(backedUp.fingerprint_sha256);
  });

  it('keeps an authority that was imported after its preview if the backup has none', async () => {
    const dataDir = temporaryDirectory();
    const server = await startTestServer({ dataDir });
    const { restore_id } = await previewOwnBackup(server);
    await importAuthority(server);
    await server.admin.confirmRestore({ restore_id });
    await server.stop();
    await expect(startTestServer({ dataDir })).rejects.toThrow(RestoreCompletedError);
    const { authority } = await (await serveAt(dataDir)).admin.showAuthority({});
    expect(authority.subject).toBe('CN=Other');
  });

  it('is canceled by the command that restores a backup over that database', async () => {
    const dataDir = temporaryDirectory();
    const { file, revived } = await confirmAndGoOn(dataDir, dataDir);
    writeFileSync(join(dataDir, 'license-desk.db'), 'not a database');
    await cliOn(dataDir).ok('restore', file, '--accept-unsigned', '--yes');
    const { admin } = await serveAt(dataDir);
    expect(await admin.showRestore({})).toMatchObject({ staged: null, canceled: null });
    const { certificate } = await admin.showCertificate({ id: revived.certificate.id });
    expect(certificate).toMatchObject({ serial_number: revived.certificate.serial_number, status: 'good' });
  });

  it('is put in place if the current database could not be read at its preview', async () => {
    const dataDir = temporaryDirectory();
    const server = await startTestServer({ dataDir });
    const { license_key } = await newLicense(server);
    const backup = await saveBackup(server, join(temporaryDirectory(), 'backup.tar'));
    await newLicense(server);
    await writeRows(dataDir, 'DROP TABLE revocation_lists');
    await uploadBackup(server, new Uint8Array(backup));
    const { restore_id, preview } = await server.admin.previewRestore({
      kind: 'upload',
      accept_unsigned: true,
    });
    expect(preview).toMatchObject({
      present: null,
      present_problem: expect.stringContaining('no such table') as string,
    });
    await server.admin.confirmRestore({ restore_id });
    await server.stop();
    await expect(startTestServer({ dataDir })).rejects.toThrow(COMPLETED);
    const { items } = await (await serveAt(dataDir)).admin.listLicenses({});
    expect(items.map((license) => license.license_key)).toEqual([license_key]);
  });

  it('stays confirmed if a start cannot write the restored database, until one can', async () => {
    const dataDir = temporaryDirectory();
    const found = await confirmAndGoOn(dataDir, dataDir);
    // SQLite writes there first.
    const inTheWay = join(dataDir, 'restore-ready', 'license-desk.db-wal');
    mkdirSync(inTheWay);
    await expect(startTestServer({ dataDir })).rejects.toThrow(
      /^a confirmed restore is not in place yet, and nothing has changed: .*restore-ready.*start again, or delete .*restore-ready to cancel/u,
    );
    rmdirSync(inTheWay);
    await expect(startTestServer({ dataDir })).rejects.toThrow(COMPLETED);
    await expectKept(await serveAt(dataDir), found);
  });
});

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`a restore into PostgreSQL that was confirmed in the back office${why}`, () => {
  async function prepared() {
    const dataDir = temporaryDirectory();
    const url = await newMigratedPostgresDatabase();
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ database_url: url }), { mode: 0o600 });
    return { dataDir, found: await confirmAndGoOn(dataDir, url) };
  }

  it('keeps the certificates and signing keys from before the restart', async () => {
    const { dataDir, found } = await prepared();
    await expect(startTestServer({ dataDir })).rejects.toThrow(RestoreCompletedError);
    await expectKept(await serveAt(dataDir), found);
  });

  longTest('is canceled if another server has imported a certificate authority', async () => {
    const dataDir = temporaryDirectory();
    const url = await newMigratedPostgresDatabase();
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ database_url: url }), { mode: 0o600 });
    const server = await startTestServer({ dataDir });
    const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
    const other = await startTestServer({ flags: { 'database-url': url }, masterKey });
    await server.admin.showAuthority({});
    await confirmRestoreOf(server);
    await importAuthority(other);
    await other.stop();
    await server.stop();
    await expect(startTestServer({ dataDir })).rejects.toThrow(
      /was canceled, and nothing has changed: the certificate authority was replaced after the preview/u,
    );
    const { authority } = await (await serveAt(dataDir)).admin.showAuthority({});
    expect(authority.subject).toBe('CN=Other');
  });

  longTest('stays confirmed if a start has no master key, until one has', async () => {
    const { dataDir, found } = await prepared();
    const [key, away] = [join(dataDir, 'master.key'), join(dataDir, 'away.key')];
    renameSync(key, away);
    await expect(startTestServer({ dataDir })).rejects.toThrow(
      /^a confirmed restore is not in place yet, and nothing has changed: .*master\.key is missing/u,
    );
    renameSync(away, key);
    await expect(startTestServer({ dataDir })).rejects.toThrow(COMPLETED);
    await expectKept(await serveAt(dataDir), found);
  });

  longTest('keeps them once if the start is killed before its commit', async () => {
    const { dataDir, found } = await prepared();
    await startAndKill(dataDir, 'kill-at-query.ts', { KILL_AT_QUERY: 'ANALYZE licenses' });
    await expect(startTestServer({ dataDir })).rejects.toThrow(RestoreCompletedError);
    await expectKept(await serveAt(dataDir), found);
  });
});
