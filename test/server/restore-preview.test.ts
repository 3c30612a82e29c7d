// What a restore shows before it is committed, and that it does not go behind what is there.
import {
  cpSync,
  globSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { issue } from '../certificates/issuing.ts';
import { entriesOf, forge, openBackup, PASSPHRASE, restore, saveBackup } from '../helpers/backup-file.ts';
import { cliOn } from '../helpers/cli.ts';
import { decryptBackup } from '../helpers/decrypt-backup.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { databaseAt, selectRows, writeRows } from '../helpers/database.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const dataDir = temporaryDirectory();
const file = join(temporaryDirectory(), 'backup.ldbackup');
const options = { passphrase: PASSPHRASE };

/** Made before the backup, and ended after it; `api_token` renewed a license under an idempotency key. */
async function fill(server: TestServer) {
  const license = await newLicense(server, { holder: 'Revoked later' });
  const kept = await newLicense(server, { holder: 'Kept' });
  const { authorization_token } = await server.admin.issueToken({ license: String(kept.license_id) });
  const revoked = await server.admin.createApiToken({ name: 'revoked later', role: 'admin' });
  const integrator = await server.admin.createApiToken({ name: 'integrator', role: 'integrator' });
  const { certificate } = await issue(server, { license_id: kept.license_id });
  const { webhook } = await server.admin.registerWebhook({ url: 'https://127.0.0.1:9/hooks', scope: 'all' });
  const renewal = { license_id: kept.license_id };
  const headers = { authorization: `Bearer ${integrator.api_token}`, 'idempotency-key': 'order-4711' };
  const renew = (at: TestServer) => at.post('/renew/', renewal, headers);
  const firstReply = (await renew(server)).body as { license: { expires_at: string } };
  return { license, kept, authorization_token, revoked, integrator, certificate, webhook, renew, firstReply };
}

let filled: Awaited<ReturnType<typeof fill>>;

async function serveAt(directory: string) {
  const server = await startTestServer({ dataDir: directory });
  onTestFinished(() => server.stop());
  return server;
}

let leakedKey: string;
beforeAll(async () => {
  writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 5, "webhook_allow": "10.0.0.0/8" }');
  const server = await startTestServer({ dataDir });
  const { admin } = server;
  filled = await fill(server);
  await saveBackup(server, file, PASSPHRASE);
  await admin.revokeLicense({ ref: String(filled.license.license_id), reason: 'chargeback' });
  await admin.revokeToken({ id: filled.authorization_token.id });
  await admin.revokeApiToken({ id: filled.revoked.token.id });
  await admin.revokeCertificate({ id: filled.certificate.id, reason: 'key_compromise' });
  await admin.deleteWebhook({ id: filled.webhook.id });
  leakedKey = (await admin.publicKey({})).key_id;
  await admin.distrustSigningKey({ key_id: leakedKey });
  await server.stop();
  writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 7, "default_product": "other" }');
});

/** A copy of the present installation. */
async function present(): Promise<string> {
  const directory = await keptDataDir();
  cpSync(dataDir, directory, { recursive: true });
  return directory;
}

async function previewOf(directory: string, backup = file, how: object = options) {
  const opened = await openBackup(backup, directory, how);
  await opened.close();
  return opened.preview;
}

describe('the preview of a restore', () => {
  it('lists what the backup brings', async () => {
    const directory = await present();
    const before = snapshotOf(directory);
    const preview = await previewOf(directory);
    expect(preview).toMatchObject({
      version: '0.1.0',
      authenticated: true,
      counts: { licenses: 2, authorization_tokens: 1, certificates: 1 },
      settings: [
        { name: 'default_product', now: 'other', restored: null },
        { name: 'scan_seconds', now: '7', restored: '5' },
        { name: 'webhook_allow', now: null, restored: '10.0.0.0/8' },
      ],
    });
    const { token } = filled.integrator;
    expect(preview.api_tokens).toEqual({
      count: 2,
      items: [
        expect.objectContaining({
          name: 'revoked later',
          role: 'admin',
          present: true,
          changes: ['revoked'],
        }),
        {
          name: 'integrator',
          role: 'integrator',
          created_at: token.created_at,
          token: `ldk_…${token.last_four}`,
          present: true,
          changes: [],
        },
      ],
    });
    expect(preview.webhooks).toMatchObject({
      count: 1,
      items: [{ url: 'https://127.0.0.1:9/hooks', scope: 'all', present: true, changes: ['deleted'] }],
    });
    expect(snapshotOf(directory)).toEqual(before);
  });

  it('names what was ended after the backup and becomes active again', async () => {
    const { license, kept, authorization_token, revoked, certificate, webhook } = filled;
    const { present: compared } = await previewOf(await present());
    expect(compared).toMatchObject({
      same_installation: true,
      counts: { licenses: 2, authorization_tokens: 0, certificates: 1 },
    });
    const one = (item: object) => ({ count: 1, items: [expect.objectContaining(item) as object] });
    expect(compared?.revived).toEqual({
      licenses: one({ license_key: license.license_key, holder: 'Revoked later' }),
      authorization_tokens: one({
        id: authorization_token.id,
        license_key: kept.license_key,
        token: `ldt_…${authorization_token.last_four}`,
      }),
      api_tokens: one({ id: revoked.token.id, name: 'revoked later', role: 'admin' }),
      certificates: one({ serial_number: certificate.serial_number, reason: 'key_compromise' }),
      webhooks: one({ id: webhook.id, url: webhook.url, reason: 'deleted', ended_at: expect.any(String) }),
      signing_keys: one({ key_id: leakedKey }),
    });
  });

  it('names API tokens that were rotated after the backup, and not webhooks that were edited', async () => {
    const directory = await keptDataDir();
    const server = await startTestServer({ dataDir: directory });
    const create = async (name: string) => (await server.admin.createApiToken({ name, role: 'admin' })).token;
    const [unchanged, rotated, overlapping, revoked, twice] = [
      await create('unchanged'),
      await create('rotated'),
      await create('overlapping'),
      await create('rotated and revoked'),
      await create('rotated twice'),
    ];
    const { webhook } = await server.admin.registerWebhook({ url: 'https://127.0.0.1:9/old', scope: 'all' });
    const backup = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, backup);
    await server.admin.rotateApiToken({ id: rotated.id, overlap_days: 0 });
    await server.admin.rotateApiToken({ id: overlapping.id });
    await server.admin.rotateApiToken({ id: revoked.id });
    await server.admin.revokeApiToken({ id: revoked.id });
    await server.admin.rotateApiToken({ id: twice.id });
    await server.admin.rotateApiToken({ id: twice.id });
    await server.admin.updateWebhook({ id: webhook.id, url: 'https://127.0.0.1:9/new' });
    await server.stop();

    const { present: compared, ...preview } = await previewOf(directory, backup, {});
    const listed = ({ id, name, role, last_four }: typeof rotated, revokedAt: unknown) => ({
      id,
      name,
      role,
      token: `ldk_…${last_four}`,
      revoked_at: revokedAt,
    });
    const { count, items } = compared!.revived.api_tokens;
    expect(count).toBe(4);
    expect(items.toSorted((a, b) => a.id - b.id)).toEqual([
      listed(rotated, null),
      listed(overlapping, null),
      listed(revoked, expect.any(String)),
      listed(twice, null),
    ]);
    expect(items.map(({ id }) => id)).not.toContain(unchanged.id);
    // It comes back with its former address.
    expect(compared?.revived.webhooks).toEqual({ count: 0, items: [] });
    expect(preview.webhooks.items).toMatchObject([{ url: webhook.url, present: true, changes: ['url'] }]);

    const text = await cliOn(directory).prints('restore', backup, '--accept-unsigned', '--yes');
    expect(text).toContain(
      `license-desk api-token revoke ${rotated.id}  # rotated, admin, rotated (previous secret ldk_…${rotated.last_four})`,
    );
    // The return brings the newer secrets.
    const [before = ''] = globSync('before-restore-*', { cwd: directory });
    const back = await previewOf(directory, join(directory, before), {});
    expect(back.present?.revived.api_tokens).toEqual({ count: 0, items: [] });
    // Unless they do not follow from the current one.
    const restored = await startTestServer({ dataDir: directory });
    await restored.admin.rotateApiToken({ id: twice.id });
    await restored.stop();
    const other = await previewOf(directory, join(directory, before), {});
    expect(other.present?.revived.api_tokens.items).toMatchObject([{ id: twice.id, revoked_at: null }]);
  });

  it('names webhooks whose secret was rotated or that were paused after the backup, and first those that change', async () => {
    const directory = await keptDataDir();
    const server = await startTestServer({ dataDir: directory });
    const register = async (name: string) =>
      (await server.admin.registerWebhook({ url: `https://127.0.0.1:9/${name}`, scope: 'all' })).webhook;
    const [rotated, paused, resumed, edited, unchanged] = [
      await register('rotated'),
      await register('paused'),
      await register('resumed'),
      await register('edited'),
      await register('unchanged'),
    ];
    await server.admin.updateWebhook({ id: resumed.id, paused: true });
    const backup = join(await keptDataDir(), 'backup.tar');
    await saveBackup(server, backup);
    for (const _ of [1, 2]) await server.admin.rotateWebhookSecret({ id: rotated.id });
    await server.admin.updateWebhook({ id: paused.id, paused: true });
    await server.admin.updateWebhook({ id: resumed.id, paused: false });
    await server.admin.updateWebhook({ id: edited.id, scope: 'license.renewed', description: 'ERP' });
    await server.stop();

    const { present: compared, ...preview } = await previewOf(directory, backup, {});
    expect(preview.webhooks.items.map(({ url, present: known, changes }) => [url, known, changes])).toEqual([
      [edited.url, true, ['scope', 'description']],
      [resumed.url, true, ['paused']],
      [paused.url, true, ['paused']],
      [rotated.url, true, ['secret']],
      [unchanged.url, true, []],
    ]);
    const revived = ({ id, url, scope }: typeof rotated, reason: string, endedAt: unknown) => ({
      id,
      url,
      scope,
      reason,
      ended_at: endedAt,
    });
    expect(compared?.revived.webhooks).toEqual({
      count: 2,
      items: [revived(paused, 'paused', expect.any(String)), revived(rotated, 'rotated', null)],
    });

    const text = await cliOn(directory).prints('restore', backup, '--accept-unsigned', '--yes');
    expect(text).toMatch(/127\.0\.0\.1:9\/edited .* changed: scope, description/u);
    expect(text).toMatch(/127\.0\.0\.1:9\/unchanged .* unchanged/u);
    expect(text).toContain(`license-desk webhook rotate ${rotated.id}  # ${rotated.url}, rotated`);
    expect(text).toContain(`license-desk webhook pause ${paused.id}  # ${paused.url}, paused `);
    // The return brings the newer secret.
    const [before = ''] = globSync('before-restore-*', { cwd: directory });
    const back = await previewOf(directory, join(directory, before), {});
    expect(back.present?.revived.webhooks.items).toMatchObject([{ id: resumed.id, reason: 'paused' }]);
    expect(back.webhooks.items).toContainEqual(
      expect.objectContaining({ url: rotated.url, changes: ['secret'] }) as object,
    );
  });

  it('compares with a database of a version that could not distrust signing keys or pause webhooks', async () => {
    const directory = await present();
    await writeRows(
      directory,
      'ALTER TABLE signing_keys DROP COLUMN distrusted_at',
      'ALTER TABLE webhooks DROP COLUMN paused_at',
      'ALTER TABLE api_tokens DROP COLUMN networks',
    );
    const { present: compared, ...preview } = await previewOf(directory);
    expect(compared?.revived).toMatchObject({ licenses: { count: 1 }, signing_keys: { count: 0 } });
    expect(preview.webhooks.items).toMatchObject([{ changes: ['deleted'] }]);
  });

  /** The backup without its encryption, after these statements and with these settings. */
  async function forgedBackup(config: string, ...statements: string[]): Promise<string> {
    const working = await keptDataDir();
    const forged = join(working, 'forged.tar');
    const archive = decryptBackup(readFileSync(file), PASSPHRASE);
    writeFileSync(join(working, 'license-desk.db'), entriesOf(archive).get('license-desk.db') ?? '');
    await writeRows(working, ...statements);
    const bytes = await forge(archive, (files) => {
      files['license-desk.db'] = readFileSync(join(working, 'license-desk.db'));
      files['config.json'] = Buffer.from(config);
    });
    writeFileSync(forged, bytes);
    return forged;
  }

  const backdoor = `INSERT INTO api_tokens (name, role, token_hash, last_four, created_at)
    VALUES ('backdoor', 'admin', '${'0'.repeat(64)}', 'evil', 1)`;

  it('shows an API token and settings that were added to the backup', async () => {
    const settings =
      '{ "database_url": "postgres://evil:secret@evil.example/desk", "webhook_allow": "0.0.0.0/0" }';
    const forged = await forgedBackup(settings, backdoor);
    const preview = await previewOf(await present(), forged, { acceptUnsigned: true });
    expect(preview.authenticated).toBe(false);
    expect(preview.api_tokens.items).toContainEqual(
      expect.objectContaining({ name: 'backdoor', token: 'ldk_…evil', present: false }) as object,
    );
    expect(preview.settings).toContainEqual({ name: 'webhook_allow', now: null, restored: '0.0.0.0/0' });
    // The data goes where this installation has it.
    expect(preview.settings.map(({ name }) => name)).not.toContain('database_url');
  });

  it('shows what was changed of an API token and a webhook in the backup', async () => {
    const forged = await forgedBackup(
      '{}',
      "UPDATE api_tokens SET role = 'admin', networks = NULL WHERE name = 'integrator'",
      `UPDATE webhooks SET ca = 'another authority', secret_sealed = 'known to the attacker'`,
    );
    const preview = await previewOf(await present(), forged, { acceptUnsigned: true });
    expect(preview.api_tokens.items[0]).toMatchObject({ name: 'integrator', changes: ['role'] });
    expect(preview.webhooks.items[0]).toMatchObject({ changes: ['ca', 'secret', 'deleted'] });
  });

  it('is refused for a database that would change itself later', async () => {
    const trigger = `CREATE TRIGGER later AFTER INSERT ON audit_entries BEGIN ${backdoor}; END`;
    const forged = await forgedBackup('{}', trigger);
    await expect(previewOf(await present(), forged, { acceptUnsigned: true })).rejects.toThrow(
      /was altered: its database has triggers or views that License Desk does not create \(later\)/u,
    );
  });

  it('trusts a folder only if a restore has put it into this data directory', async () => {
    const directory = await present();
    const { before } = await restore(file, directory, options);
    const kept = join(directory, before ?? '');
    const signed = { acceptUnsigned: false };
    const trusted = { authenticated: true, from_before: true };
    expect(await previewOf(directory, kept, signed)).toMatchObject(trusted);
    expect(await previewOf(directory, file)).toMatchObject({ authenticated: true, from_before: false });

    const elsewhere = join(await keptDataDir(), before ?? '');
    cpSync(kept, elsewhere, { recursive: true });
    const link = join(directory, 'before-restore-20260101T000000Z');
    symlinkSync(elsewhere, link);
    for (const folder of [elsewhere, link])
      await expect(previewOf(directory, folder, signed)).rejects.toThrow(
        `${folder} is not authenticated: it is not a before-restore folder of ${directory}`,
      );
    expect(await previewOf(directory, elsewhere, {})).toMatchObject({
      authenticated: false,
      from_before: false,
    });
    const trigger = `CREATE TRIGGER later AFTER INSERT ON audit_entries BEGIN ${backdoor}; END`;
    await writeRows(elsewhere, trigger);
    await expect(previewOf(directory, elsewhere, {})).rejects.toThrow(/was altered: .*\(later\)/u);

    const text = await cliOn(directory).prints('restore', kept, '--yes');
    expect(text).toMatch(/Authenticated: +yes, data of this installation from before a restore/u);
  });

  it('says when data from before a restore was last changed, also if its server was killed', async () => {
    const directory = await present();
    const folder = join(await keptDataDir(), 'before-restore-20260101T000000Z');
    const database = await connect(databaseAt(directory));
    // The change stays in the log beside the file.
    await database.query("UPDATE plans SET display_name = 'Changed'");
    cpSync(directory, folder, { recursive: true });
    await database.close();
    const kept = join(folder, 'license-desk.db');
    utimesSync(kept, 0, Date.parse('2026-01-01T10:00:00Z') / 1000);
    utimesSync(`${kept}-wal`, 0, Date.parse('2026-01-01T10:05:00Z') / 1000);
    expect(await previewOf(directory, folder, {})).toMatchObject({ created_at: '2026-01-01T10:05:00.000Z' });
  });

  it('works where the present database is damaged, empty or of another installation', async () => {
    const damaged = await present();
    truncateSync(join(damaged, 'license-desk.db'), 20_000);
    const empty = await present();
    truncateSync(join(empty, 'license-desk.db'), 0);
    for (const directory of [damaged, empty]) {
      const preview = await previewOf(directory);
      expect(preview).toMatchObject({ present: null, present_problem: expect.any(String) as string });
      expect(preview.api_tokens.items[0]).toMatchObject({ name: 'integrator', present: null });
    }
    const other = await keptDataDir();
    await (await startTestServer({ dataDir: other })).stop();
    const { present: compared } = await previewOf(other);
    expect(compared).toMatchObject({ same_installation: false, revived: { webhooks: { count: 0 } } });
    expect(await previewOf(await keptDataDir())).toMatchObject({ present: null, present_problem: null });
  });
});

describe('after a restore', () => {
  it('a repeated idempotent call gives the first reply, and has no second effect', async () => {
    const directory = await present();
    await restore(file, directory, options);
    const again = await serveAt(directory);
    const { renew, firstReply, kept } = filled;
    const { status, body } = await renew(again);
    expect(status).toBe(200);
    expect(body).toEqual(firstReply);
    const { license } = await again.admin.showLicense({ ref: kept.license_key });
    expect(license.expires_at).toBe(firstReply.license.expires_at);
  });

  it('CRL numbers and ids are beyond those of the database before, however often that happens', async () => {
    const directory = await present();
    await restore(file, directory, options);
    // As after many revocations in a short time, or a clock that was ahead for a while.
    const number = 10_000_000_000;
    await writeRows(directory, `UPDATE revocation_lists SET number = ${number}`);
    const idsOf = async () =>
      Object.fromEntries(
        (
          (await selectRows(directory, 'SELECT name, seq FROM sqlite_sequence')) as {
            name: string;
            seq: number;
          }[]
        ).map(({ name, seq }) => [name, seq]),
      );
    const first = await idsOf();
    await restore(file, directory, options);
    const second = await idsOf();
    expect(Object.keys(second)).toContain('license_imports');
    for (const [name, seq] of Object.entries(first)) expect(second[name], name).toBeGreaterThan(seq);
    const again = await serveAt(directory);
    const list = (await again.get('/certs/crl/')).body as { crl_number: number };
    expect(list.crl_number).toBeGreaterThan(number);
  });
});
