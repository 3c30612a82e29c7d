// Backups of a running server: what is in them, and what is not.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { entriesOf, PASSPHRASE, requestBackup, restore, saveBackup } from '../helpers/backup-file.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

const server = sharedServer();
const disk = mountSmallDisk(16);
if (typeof disk === 'string') process.stderr.write(`a test of backup.test.ts is skipped: ${disk}\n`);

describe('a backup', () => {
  it('is a tar archive that tells what is in it', async () => {
    writeFileSync(join(server.dataDir, 'config.json'), '{ "scan_seconds": 77 }');
    const response = await requestBackup(server, { passphrase: PASSPHRASE });
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/x-tar',
      'cache-control': 'no-store',
      'content-disposition': expect.stringMatching(
        /^attachment; filename="license-desk-\d{8}T\d{6}Z\.tar"$/u,
      ) as string,
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes).toHaveLength(Number(response.headers.get('content-length')));
    const { 'manifest.json': manifest = Buffer.alloc(0), ...parts } = Object.fromEntries(entriesOf(bytes));
    const told = JSON.parse(manifest.toString()) as { parts: object[] };
    expect(told).toMatchObject({ format: 'license-desk-backup', format_version: 1, version: '0.1.0' });
    expect(told.parts).toEqual(
      Object.entries(parts).map(([name, content]) => ({
        name,
        bytes: content.length,
        sha256: createHash('sha256').update(content).digest('hex'),
      })),
    );
    expect(Object.keys(parts)).toEqual(['config.json', 'master-key.json', 'license-desk.db']);
    expect(parts['config.json']?.toString()).toBe('{ "scan_seconds": 77 }');
    expect(readdirSync(server.dataDir)).not.toContain('backup-copy.db');
  });

  it('has neither the master key, nor keys that wait for a download, nor replies kept for a second call', async () => {
    const { license_id } = await newLicense(server);
    await server.admin.generateCertificate({ license_id, common_name: 'waiting' });
    const { api_token } = await server.admin.createApiToken({ name: 'integrator' });
    const renewed = await server.post(
      '/renew/',
      { license_id },
      { authorization: `Bearer ${api_token}`, 'idempotency-key': 'once' },
    );
    expect(renewed.status).toBe(200);
    const secrets = [
      ...(await selectRows(server.dataDir, 'SELECT private_key_sealed AS text FROM certificate_keys')),
      ...(await selectRows(server.dataDir, 'SELECT reply_sealed AS text FROM idempotent_replies')),
    ] as { text: string }[];
    expect(secrets).toHaveLength(2);
    const bytes = await saveBackup(server, join(await keptDataDir(), 'backup.tar'), PASSPHRASE);
    for (const { text } of secrets) expect(bytes.includes(text)).toBe(false);
    const masterKey = readFileSync(join(server.dataDir, 'master.key'), 'utf8').trim();
    expect(bytes.includes(masterKey)).toBe(false);
    expect(bytes.includes(Buffer.from(masterKey, 'base64'))).toBe(false);
    // The counter-proof: what is to be in it can be found in this way.
    const [key] = (await selectRows(
      server.dataDir,
      'SELECT private_key_sealed AS text FROM signing_keys',
    )) as { text: string }[];
    expect(bytes.includes(key?.text ?? '')).toBe(true);
  });

  it('is of one moment, while others go on writing', async () => {
    const file = join(await keptDataDir(), 'backup.tar');
    const isDone = new AbortController();
    const writing = (async () => {
      let count = 0;
      for (; !isDone.signal.aborted; count += 1) await newLicense(server);
      return count;
    })();
    await saveBackup(server, file, PASSPHRASE);
    isDone.abort();
    expect(await writing).toBeGreaterThan(0);
    const dataDir = await keptDataDir();
    const { licenses } = await restore(file, dataDir, { passphrase: PASSPHRASE });
    // Each license comes with its entry in the audit log, or not at all.
    const [audited] = (await selectRows(
      dataDir,
      `SELECT count(*) AS count FROM audit_entries WHERE action = 'license.created'`,
    )) as { count: number }[];
    expect(audited?.count).toBe(licenses);
  });

  it('is made once at a time, and again when nobody wants the rest of the last one', async () => {
    const replies = await Promise.all([requestBackup(server), requestBackup(server)]);
    const made = replies.find(({ status }) => status === 200);
    const refused = replies.find(({ status }) => status !== 200);
    expectFailure({ status: refused?.status ?? 0, body: await refused?.json() }, 'unavailable');
    await made?.arrayBuffer();
    expect((await (await requestBackup(server)).arrayBuffer()).byteLength).toBeGreaterThan(0);

    const giveUp = new AbortController();
    await requestBackup(server, {}, giveUp.signal);
    giveUp.abort();
    await expect.poll(async () => (await requestBackup(server)).status).toBe(200);
    await expect.poll(() => existsSync(join(server.dataDir, 'backup-copy.db'))).toBe(false);
  });

  it('wants a passphrase that is worth the name', async () => {
    const response = await requestBackup(server, { passphrase: 'short' });
    expectFailure({ status: response.status, body: await response.json() }, 'invalid_request');
  });

  it.skipIf(typeof disk === 'string')('is not begun where there is no room for it', async () => {
    const { path, unmount } = disk as SmallDisk;
    onTestFinished(unmount);
    const cramped = await startTestServer({ dataDir: join(path, 'data') });
    onTestFinished(() => cramped.stop());
    const response = await requestBackup(cramped);
    const body = (await response.json()) as { message: string };
    expectFailure({ status: response.status, body }, 'unavailable');
    expect(body.message).toContain('no room for a copy of the database');
    expect(readdirSync(cramped.dataDir)).not.toContain('backup-copy.db');
    await newLicense(cramped);
  });
});
