// Backups, restores and settings on the command line, with a server and without one.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { lockDirectory } from '../../server/database/directory-lock.ts';
import type { LicenseRecord } from '../../server/licenses/license-contract.ts';
import type { SettingsObject } from '../../server/settings/settings-contract.ts';
import { writeRuntimeFile } from '../../server/runtime-file.ts';
import type { SigningKeyObject } from '../../server/signing/signing-contract.ts';
import { PASSPHRASE, spoil } from '../helpers/backup-file.ts';
import { cliOn } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

interface BackupReply {
  backup: { file: string; version: string; created_at: string; master_key: boolean };
}

interface RestoreReply {
  restored: { created_at: string; licenses: number; before: string | null };
}

const folder = temporaryDirectory('backups');
const passphraseFile = join(folder, 'passphrase');
writeFileSync(passphraseFile, `${PASSPHRASE}\n`);

describe('backup and restore', () => {
  const dataDir = temporaryDirectory();
  const cli = cliOn(dataDir);

  test('take everything to another directory', async () => {
    const { license } = await cli.ok<{ license: LicenseRecord }>('license', 'create', '--holder', 'Ústav');
    const out = join(folder, 'offline.tar');
    const { backup } = await cli.ok<BackupReply>('backup', '--out', out, '--passphrase-file', passphraseFile);
    expect(backup).toMatchObject({ file: out, version: '0.1.0', master_key: true });
    expect(statSync(out).mode & 0o777).toBe(0o600);

    const other = cliOn(temporaryDirectory());
    const { restored } = await other.ok<RestoreReply>('restore', out, '--passphrase-file', passphraseFile);
    expect(restored).toEqual({ created_at: backup.created_at, version: '0.1.0', licenses: 1, before: null });
    const shown = await other.ok<{ license: LicenseRecord }>('license', 'show', license.license_key);
    expect(shown.license.holder).toBe('Ústav');
  });

  test('go through a server that runs, or wait for its end', async () => {
    const server = await startServerProcess({ dataDir });
    const out = join(folder, 'online.tar');
    const text = await cli.prints('backup', '--out', out);
    expect(text).toContain('Every byte of it has been read back.');
    expect(text).toContain('The master key is not in it');
    expect(await cli.fails('restore', out)).toMatchObject({
      error_code: 'unavailable',
      message: expect.stringContaining(`in use by a server (process ${server.pid}`) as string,
    });
    await server.kill();
    const { restored } = await cli.ok<RestoreReply>('restore', out);
    expect(existsSync(join(restored.before ?? '', 'license-desk.db'))).toBe(true);
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

  test('fail in one line where the server ends before all of it has come', async () => {
    const taken = temporaryDirectory();
    const lock = await lockDirectory(taken);
    const cutting = createServer((request, response) => {
      if (request.url?.includes('/overview/')) {
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
      message: 'the server ended before all of the file had come; try again',
    });
    expect(existsSync(out)).toBe(false);
  });

  test('fail in one line for a damaged file', async () => {
    const out = join(folder, 'damaged.tar');
    await cli.ok('backup', '--out', out);
    spoil(out, 'license-desk.db', 5000);
    const failure = await cli.fails('restore', out);
    expect(failure).toMatchObject({ error_code: 'invalid_request' });
    expect(failure.message).toContain('is damaged: license-desk.db is not what it was');
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
