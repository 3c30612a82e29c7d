// Backups, restores and settings on the command line, with a server and without one.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RestorePreview } from '#server/features/backup/restore-preview.ts';
import { lockDirectory } from '#server/database/directory-lock.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { SettingsObject } from '#server/features/settings/settings-contract.ts';
import { writeRuntimeFile } from '#server/installation/runtime-file.ts';
import type { SigningKeyObject } from '#server/features/signing/signing-contract.ts';
import { entriesOf, forge, PASSPHRASE, spoil } from '../helpers/backup-file.ts';
import { atTerminal } from '../helpers/at-terminal.ts';
import { cliOn } from '../helpers/cli.ts';
import { writeRows } from '../helpers/database.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

interface BackupReply {
  backup: { file: string; version: string; created_at: string; master_key: boolean; encrypted: boolean };
}

interface RestoreReply {
  restored: { created_at: string; version: string; licenses: number; before: string | null };
  preview: RestorePreview;
}

const folder = temporaryDirectory('backups');
const passphraseFile = join(folder, 'passphrase');
writeFileSync(passphraseFile, `${PASSPHRASE}\n`);
const WITH_PASSPHRASE = ['--passphrase-file', passphraseFile];

describe('backup and restore', () => {
  const dataDir = temporaryDirectory();
  const cli = cliOn(dataDir);

  test('take everything to another directory', async () => {
    const { license } = await cli.ok<{ license: LicenseRecord }>('license', 'create', '--holder', 'Ústav');
    const out = join(folder, 'offline.ldbackup');
    const { backup } = await cli.ok<BackupReply>('backup', '--out', out, ...WITH_PASSPHRASE);
    expect(backup).toMatchObject({ file: out, version: '0.1.0', master_key: true, encrypted: true });
    expect(statSync(out).mode & 0o777).toBe(0o600);

    const other = cliOn(temporaryDirectory());
    const { restored, preview } = await other.ok<RestoreReply>('restore', out, ...WITH_PASSPHRASE, '--yes');
    expect(restored).toEqual({ created_at: backup.created_at, version: '0.1.0', licenses: 1, before: null });
    expect(preview).toMatchObject({ authenticated: true, counts: { licenses: 1 } });
    const shown = await other.ok<{ license: LicenseRecord }>('license', 'show', license.license_key);
    expect(shown.license.holder).toBe('Ústav');
  });

  test('go through a server that runs, or wait for its end', async () => {
    const server = await startServerProcess({ dataDir });
    const out = join(folder, 'online.tar');
    const text = await cli.prints('backup', '--out', out);
    expect(text).toContain('Every byte has been read back and verified.');
    expect(text).toContain('This backup is not encrypted.');
    expect(text).toContain('restoring it takes --accept-unsigned');
    expect(text).toContain('The master key is not included');
    expect(await cli.fails('restore', out, '--accept-unsigned', '--yes')).toMatchObject({
      error_code: 'unavailable',
      message: expect.stringContaining(`in use by a server (process ${server.pid}`) as string,
    });
    await server.kill();
    const { restored } = await cli.ok<RestoreReply>('restore', out, '--accept-unsigned', '--yes');
    expect(existsSync(join(restored.before ?? '', 'license-desk.db'))).toBe(true);
  });

  test('bring no credential that somebody put into the file', async () => {
    const honest = join(folder, 'honest.tar');
    await cli.ok('backup', '--out', honest);
    // Hashes and all: an administrator's token of the attacker's choice.
    const forged = join(folder, 'forged.tar');
    const working = temporaryDirectory();
    const secret = `ldk_${'A'.repeat(43)}`;
    const hash = createHash('sha256').update(secret).digest('hex');
    const archive = readFileSync(honest);
    writeFileSync(join(working, 'license-desk.db'), entriesOf(archive).get('license-desk.db') ?? '');
    await writeRows(
      working,
      'DELETE FROM audit_entries',
      `INSERT INTO api_tokens (name, role, token_hash, last_four, created_at) VALUES ('backdoor', 'admin', '${hash}', 'AAAA', 1)`,
    );
    writeFileSync(
      forged,
      await forge(archive, (files) => {
        files['license-desk.db'] = readFileSync(join(working, 'license-desk.db'));
      }),
    );
    const before = snapshotOf(dataDir);
    expect((await cli.fails('restore', forged, '--yes')).message).toMatch(
      /is not authenticated: .*--accept-unsigned/u,
    );
    const { preview, ...failure } = (await cli.refuses(
      'restore',
      forged,
      '--accept-unsigned',
    )) as unknown as RestoreReply;
    expect(failure).toMatchObject({
      error_code: 'invalid_request',
      message: expect.stringContaining('--yes') as string,
    });
    expect(preview.api_tokens.items).toMatchObject([{ name: 'backdoor', role: 'admin', present: false }]);
    expect(snapshotOf(dataDir)).toEqual(before);
  });

  test.skipIf(process.platform !== 'linux')('ask at a terminal, and take no for an answer', async () => {
    const out = join(folder, 'asked.tar');
    await cli.ok('license', 'create', '--holder', 'Asked');
    await cli.ok('backup', '--out', out);
    const before = snapshotOf(dataDir);
    const words = ['restore', out, '--accept-unsigned', '--data-dir', dataDir];
    const refused = await atTerminal(words, { answer: 'n' });
    expect(refused.output).toContain('Replace everything in');
    expect(refused.output).toContain('error: restore canceled; nothing has changed');
    expect(refused.exitCode).toBe(1);
    expect(snapshotOf(dataDir)).toEqual(before);
    const agreed = await atTerminal(words, { answer: 'y' });
    expect(agreed.output).toContain('is restored to');
    expect(agreed.exitCode).toBe(0);
  });

  test('name what was revoked after the backup, and how it is revoked again', async () => {
    const { license } = await cli.ok<{ license: LicenseRecord }>('license', 'create', '--holder', 'Revoked');
    const out = join(folder, 'revoked.tar');
    await cli.ok('backup', '--out', out);
    await cli.ok('license', 'revoke', license.license_key);
    const text = await cli.prints('restore', out, '--accept-unsigned', '--yes');
    expect(text).toMatch(/Authenticated: +no; the file may have been altered/u);
    expect(text).toMatch(/active again after the restore\. To end them again, run:\nLicenses: 1\n/u);
    expect(text).toContain(`  license-desk license revoke ${license.license_key}  # Revoked, revoked 20`);
  });

  test('leave a file alone that is there already, and none behind that is not whole', async () => {
    const out = join(folder, 'present.tar');
    writeFileSync(out, 'mine');
    await cli.fails('backup', '--out', out);
    expect(readFileSync(out, 'utf8')).toBe('mine');
    const short = join(folder, 'short');
    writeFileSync(short, 'short\n');
    const never = join(folder, 'never.tar');
    expect(await cli.fails('backup', '--out', never, '--passphrase-file', short)).toMatchObject({
      error_code: 'invalid_request',
    });
    expect(existsSync(never)).toBe(false);
  });

  test('read the passphrase as it is typed, whatever program wrote its file', async () => {
    const sealed = join(folder, 'from-an-editor.ldbackup');
    const withMark = join(folder, 'with-mark');
    writeFileSync(withMark, `\uFEFF${PASSPHRASE}\r\n`);
    await cli.ok('backup', '--out', sealed, '--passphrase-file', withMark);
    await cli.ok('restore', sealed, ...WITH_PASSPHRASE, '--yes');
    const latin1 = join(folder, 'latin-1');
    writeFileSync(latin1, 'drei Züge nach Köln\n', 'latin1');
    const never = join(folder, 'never.ldbackup');
    expect(await cli.fails('backup', '--out', never, '--passphrase-file', latin1)).toMatchObject({
      error_code: 'invalid_request',
      message: `cannot use ${latin1}: it is not UTF-8 text`,
    });
    expect(existsSync(never)).toBe(false);
  });

  test('fail in one line where the server ends before all of it has come', async () => {
    const taken = temporaryDirectory();
    const lock = await lockDirectory(taken);
    const cutting = createServer((request, response) => {
      if (request.url?.includes('/server-info/')) {
        response.end('{"ok":true}');
        return;
      }
      response.writeHead(200, { 'content-type': 'application/x-tar', 'content-length': '5000' });
      response.write('the first half', () => response.destroy());
    });
    await new Promise<void>((resolve) => {
      cutting.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(async () => {
      cutting.close();
      await lock?.release();
    });
    const admin = `http://127.0.0.1:${(cutting.address() as AddressInfo).port}`;
    writeRuntimeFile(taken, { pid: process.pid, version: '0.1.0', api: admin, admin, secret: 'secret' });
    const out = join(folder, 'half.tar');
    expect(await cliOn(taken).fails('backup', '--out', out)).toMatchObject({
      error_code: 'unavailable',
      message: 'the connection closed before the file was complete; try again',
    });
    expect(existsSync(out)).toBe(false);
  });

  test('fail in one line for a damaged file, and for a wrong passphrase', async () => {
    const out = join(folder, 'damaged.tar');
    await cli.ok('backup', '--out', out);
    spoil(out, 'license-desk.db', 5000);
    const failure = await cli.fails('restore', out, '--accept-unsigned', '--yes');
    expect(failure).toMatchObject({ error_code: 'invalid_request' });
    expect(failure.message).toContain('is damaged: the SHA-256 of license-desk.db does not match');
    const sealed = join(folder, 'sealed.ldbackup');
    await cli.ok('backup', '--out', sealed, ...WITH_PASSPHRASE);
    const wrong = join(folder, 'wrong');
    writeFileSync(wrong, 'another passphrase\n');
    expect(await cli.fails('restore', sealed, '--passphrase-file', wrong, '--yes')).toMatchObject({
      error_code: 'invalid_request',
      message: `${sealed} cannot be decrypted: the passphrase is wrong or the file was altered`,
    });
  });
});

describe('settings', () => {
  const cli = cliOn(temporaryDirectory());
  const valueOf = ({ settings }: SettingsObject, name: string) =>
    settings.find((setting) => setting.name === name)?.next_value;

  test('set, list and unset', async () => {
    expect(
      valueOf(
        await cli.ok<SettingsObject>('settings', 'set', 'webhook-allow', '10.0.0.0/8'),
        'webhook_allow',
      ),
    ).toBe('10.0.0.0/8');
    expect(await cli.prints('settings', 'list')).toMatch(/webhook_allow +10\.0\.0\.0\/8 +file/u);
    expect(valueOf(await cli.ok<SettingsObject>('settings', 'unset', 'webhook_allow'), 'webhook_allow')).toBe(
      '',
    );
  });

  test('refuse what would stop the next start', async () => {
    const failure = await cli.fails('settings', 'set', 'scan_seconds', 'often');
    expect(failure).toMatchObject({ message: 'scan_seconds: must be seconds above 0' });
  });

  test('signing-key list shows every key', async () => {
    const { items } = await cli.ok<{ items: SigningKeyObject[] }>('signing-key', 'list');
    expect(items).toMatchObject([{ status: 'active', retired_at: null }]);
  });
});
