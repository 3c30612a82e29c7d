// What every command that needs the service does; the tests beside this say which way it gets there.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ActivationObject, DeviceObject } from '#server/features/activations/activation-contract.ts';
import type { AuditEntryObject } from '#server/features/audit/audit-contract.ts';
import type { AuthorizationTokenObject } from '#server/features/authorization-tokens/authorization-token-contract.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import type { PlanObject } from '#server/features/plans/plan-contract.ts';
import type { RetentionItem } from '#server/features/retention/retention-contract.ts';
import type { PublicKeys } from '#server/features/signing/signing-contract.ts';
import { asCommand, type CreateLicense } from '../helpers/as-command.ts';
import { cliOn, runCli, type Cli } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { startServerProcess, temporaryDirectory, type ServerProcess } from '../helpers/server-process.ts';
import { describeApiTokenAdministration } from './api-token-administration.ts';
import { describeCertAdministration } from './cert-administration.ts';
import { describeLeaseRuleAdministration } from './lease-rule-administration.ts';
import { describeLicenseAdministration } from './license-administration.ts';
import { describeWebhookAdministration, WEBHOOK_ENV, WEBHOOK_FLAGS } from './webhook-administration.ts';

const DAY_MS = 86_400_000;
const UNKNOWN_KEY = generateLicenseKey((size) => new Uint8Array(size).fill(1));
const FINGERPRINT = `sha256:${'a1'.repeat(32)}`;

interface Listed<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface RetentionObject {
  items: RetentionItem[];
  last_run_at: string | null;
}

interface Issued {
  token: string;
  authorization_token: AuthorizationTokenObject;
  replaced: AuthorizationTokenObject | null;
}

async function createLicense(cli: Cli, ...words: string[]): Promise<LicenseRecord> {
  const create = ['license', 'create', '--holder', 'Acme', ...words];
  const { license } = await cli.ok<{ license: LicenseRecord }>(...create);
  return license;
}

function daysBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS;
}

/** Declares the tests, on the database itself or through a server that runs all the while. */
export function describeAdministration({ withServer }: { withServer: boolean }): void {
  const folder = temporaryDirectory('carried');
  const dataDir = temporaryDirectory();
  const cli = cliOn(dataDir, { env: WEBHOOK_ENV });
  let server: ServerProcess | undefined;

  beforeAll(async () => {
    if (withServer) server = await startServerProcess({ dataDir, flags: WEBHOOK_FLAGS });
  });

  async function newLicense(input: Partial<CreateLicense> = {}): Promise<LicenseRecord> {
    const { license } = await asCommand(dataDir, (admin) =>
      admin.createLicense({ holder: 'Acme', ...input }),
    );
    return license;
  }

  /** Activates a device the offline way, which needs no listener. */
  async function activate(license: LicenseRecord, fingerprint = FINGERPRINT, more: string[] = []) {
    const words = ['request', '--license-key', license.license_key, '--fingerprint', fingerprint, '--qr'];
    const request = await runCli(words);
    const out = join(folder, `${license.license_id}.lic`);
    const result = await runCli(
      ['activate-offline', '--request', '-', '--out', out, '--json', '--data-dir', dataDir, ...more],
      { input: request.stdout },
    );
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    const reply = JSON.parse(result.stdout) as {
      ok: true;
      license: LicenseRecord;
      activation: ActivationObject;
      license_file: string;
    };
    expect(readFileSync(out, 'utf8')).toBe(reply.license_file);
    return { out, ...reply };
  }

  describe('license', () => {
    test('create takes the standard plan and the default product', async () => {
      const license = await createLicense(cli);
      expect(license).toMatchObject({
        holder: 'Acme',
        plan: 'standard',
        product: 'my-product',
        state: 'issued',
        email: null,
        machine_fingerprint: null,
        activation_count: 0,
      });
      expect(daysBetween(license.issued_at, license.expires_at)).toBe(365);
    });

    test('create takes every option', async () => {
      const words = '--plan enterprise --product other --email a@example.com --days 30'.split(' ');
      const license = await createLicense(cli, ...words);
      expect(license).toMatchObject({ plan: 'enterprise', product: 'other', email: 'a@example.com' });
      expect(license.max_activations).toBeNull();
      expect(daysBetween(license.issued_at, license.expires_at)).toBe(30);
    });

    test('create may set an end, in the past too', async () => {
      expect(await createLicense(cli, '--expires-at', '2024-01-31')).toMatchObject({
        expires_at: '2024-01-31T23:59:59.999Z',
        state: 'expired',
      });
      expect(await createLicense(cli, '--expires-at', '2090-01-31T12:00:00+02:00')).toMatchObject({
        expires_at: '2090-01-31T10:00:00.000Z',
      });
    });

    test('show takes the id or the key, however it is typed', async () => {
      const license = await newLicense();
      const typed = license.license_key.toLowerCase().replaceAll('-', ' ');
      for (const ref of [String(license.license_id), license.license_key, typed]) {
        expect(await cli.ok('license', 'show', ref)).toEqual({ ok: true, license });
      }
    });

    test('list filters, searches and goes on page by page', async () => {
      const ids: number[] = [];
      for (const holder of ['Searched one', 'Searched two', 'Searched three']) {
        ids.push((await newLicense({ holder })).license_id);
      }
      const words = ['license', 'list', '--search', 'searched', '--limit', '2'];
      const first = await cli.ok<Listed<LicenseRecord>>(...words);
      expect(first.items.map((license) => license.license_id)).toEqual([ids[2], ids[1]]);
      const second = await cli.ok<Listed<LicenseRecord>>(...words, '--cursor', first.next_cursor!);
      expect(second.items.map((license) => license.license_id)).toEqual([ids[0]]);
      expect(second.next_cursor).toBeNull();

      await cli.ok('license', 'revoke', String(ids[0]));
      const revoked = await cli.ok<Listed<LicenseRecord>>(...words, '--state', 'revoked');
      expect(revoked.items.map((license) => license.license_id)).toEqual([ids[0]]);
    });

    test('list narrows down by plan, product and end, and sorts', async () => {
      const product = 'sorted-product';
      const ids: number[] = [];
      for (const days of [30, 3, 300]) {
        const made = await newLicense({ product, plan: 'enterprise', days });
        ids.push(made.license_id);
      }
      const listed = async (...words: string[]) => {
        const list = ['license', 'list', '--product', product, ...words];
        return (await cli.ok<Listed<LicenseRecord>>(...list)).items.map((license) => license.license_id);
      };
      expect(await listed('--sort', 'expires')).toEqual([ids[1], ids[0], ids[2]]);
      expect(await listed('--sort', 'expires', '--order', 'desc')).toEqual([ids[2], ids[0], ids[1]]);
      expect(await listed('--expires-within', '60', '--plan', 'enterprise')).toEqual([ids[1], ids[0]]);
      expect(await listed('--plan', 'standard')).toEqual([]);
    });

    test('revoke keeps the reason', async () => {
      const { license_id: id } = await newLicense();
      expect(await cli.ok('license', 'revoke', String(id), '--reason', 'Contract ended')).toMatchObject({
        license: { license_id: id, state: 'revoked', revoke_reason: 'Contract ended' },
      });
      expect(await cli.fails('license', 'renew', String(id))).toMatchObject({
        error_code: 'license_revoked',
      });
    });

    test('renew adds days, the term of the plan, or sets an end', async () => {
      const { license_key: key, expires_at: before } = await newLicense({ days: 10 });
      type Renewed = { license: LicenseRecord; previous_expires_at: string };
      const byDays = await cli.ok<Renewed>('license', 'renew', key, '--days', '5');
      expect(byDays.previous_expires_at).toBe(before);
      expect(daysBetween(before, byDays.license.expires_at)).toBe(5);
      const byPlan = await cli.ok<Renewed>('license', 'renew', key);
      expect(daysBetween(byDays.license.expires_at, byPlan.license.expires_at)).toBe(365);
      const toEnd = await cli.ok<Renewed>('license', 'renew', key, '--expires-at', '2091-01-01');
      expect(toEnd.license.expires_at).toBe('2091-01-01T23:59:59.999Z');
    });

    test('upgrade goes to a higher tier only', async () => {
      const { license_key: key } = await newLicense();
      expect(await cli.ok('license', 'upgrade', key, '--plan', 'professional')).toMatchObject({
        license: { plan: 'professional', max_activations: 5 },
        previous_plan: 'standard',
      });
      expect(await cli.fails('license', 'upgrade', key, '--plan', 'professional')).toMatchObject({
        error_code: 'plan_unchanged',
      });
      expect(await cli.fails('license', 'upgrade', key, '--plan', 'trial')).toMatchObject({
        error_code: 'not_an_upgrade',
      });
    });

    test('devices are listed and released', async () => {
      const license = await newLicense();
      const ref = String(license.license_id);
      await activate(license);
      const { items, next_cursor: next } = await cli.ok<Listed<DeviceObject>>('license', 'devices', ref);
      expect(items).toMatchObject([{ machine_fingerprint: FINGERPRINT, released_at: null }]);
      expect(next).toBeNull();
      const release = ['license', 'release', ref, '--fingerprint', FINGERPRINT.toUpperCase()];
      const { device } = await cli.ok<{ device: DeviceObject }>(...release);
      expect(device.machine_fingerprint).toBe(FINGERPRINT);
      expect(device.released_at).not.toBeNull();
      expect(await cli.fails(...release)).toMatchObject({ error_code: 'device_not_found' });
    });

    test('a mistyped key is told apart from an unknown one', async () => {
      expect(await cli.fails('license', 'show', UNKNOWN_KEY)).toMatchObject({
        error_code: 'license_not_found',
      });
      expect(await cli.fails('license', 'show', '999999')).toMatchObject({ error_code: 'license_not_found' });
      expect(await cli.fails('license', 'show', `${UNKNOWN_KEY.slice(0, -1)}?`)).toMatchObject({
        error_code: 'invalid_request',
      });
    });

    test('create says what is wrong', async () => {
      const words = ['license', 'create', '--holder', 'Acme'];
      expect(await cli.fails(...words, '--plan', 'no-such-plan')).toMatchObject({
        error_code: 'plan_not_found',
      });
      expect(await cli.refuses(...words, '--email', 'nobody')).toMatchObject({
        error_code: 'invalid_request',
      });
      expect(await cli.refuses('license', 'create', '--holder', '')).toMatchObject({
        error_code: 'invalid_request',
      });
    });
  });

  test('an offline activation gives a file that verifies', async () => {
    const license = await newLicense();
    const { out, activation, license: activated } = await activate(license);
    expect(activation.machine_fingerprint).toBe(FINGERPRINT);
    expect(activated).toMatchObject({ state: 'active', activation_count: 1 });

    const { ok: _ok, ...keys } = await cli.ok<PublicKeys>('public-key');
    const verify = [
      'verify',
      out,
      '--public-key',
      JSON.stringify(keys),
      '--fingerprint',
      FINGERPRINT,
      '--json',
    ];
    const verified = await runCli(verify);
    expect(verified.exitCode).toBe(0);
    expect(JSON.parse(verified.stdout)).toMatchObject({
      valid: true,
      license: { license_id: license.license_id },
    });

    const again = await activate(license);
    expect(again.activation).toEqual(activation);
  });

  test('an offline activation may be encrypted, limited in time, and refused', async () => {
    const license = await newLicense();
    const { out } = await activate(license, FINGERPRINT, ['--encrypt', '--ttl-days', '2']);
    const key = await cli.prints('public-key');
    const verify = ['verify', out, '--public-key', key, '--fingerprint', FINGERPRINT, '--json'];
    expect((await runCli(verify)).exitCode).toBe(1);
    const opened = await runCli([...verify, '--license-key', license.license_key]);
    const { signed_at: signed, file_expires_at: end } = JSON.parse(opened.stdout) as Record<string, string>;
    expect(daysBetween(signed!, end!)).toBe(2);

    const words = ['activate-offline', '--request', '-', '--out', out, '--json', '--data-dir', dataDir];
    const garbage = await runCli(words, { input: 'hello' });
    expect(garbage.exitCode).toBe(1);
    expect(JSON.parse(garbage.stdout)).toMatchObject({ ok: false, error_code: 'invalid_request' });
    const missing = await cli.fails('activate-offline', '--request', join(folder, 'none'), '--out', out);
    expect(missing).toMatchObject({ error_code: 'not_found' });
  });

  test('tokens are issued once, replace each other, are listed and revoked', async () => {
    const { license_key: key, license_id: id } = await newLicense();
    const first = await cli.ok<Issued>('token', 'issue', '--license', key, '--name', 'Lab', '--days', '10');
    expect(first.token).toMatch(/^ldt_[\w-]{43}$/u);
    expect(first.authorization_token).toMatchObject({
      license_id: id,
      name: 'Lab',
      product: 'my-product',
      state: 'active',
      last_four: first.token.slice(-4),
    });
    expect(daysBetween(first.authorization_token.created_at, first.authorization_token.expires_at)).toBe(10);
    expect(first.replaced).toBeNull();

    const second = await cli.ok<Issued>('token', 'issue', '--license', String(id));
    expect(daysBetween(second.authorization_token.created_at, second.authorization_token.expires_at)).toBe(
      365,
    );
    expect(second.replaced).toMatchObject({ id: first.authorization_token.id, state: 'replaced' });

    const listed = await cli.ok<Listed<AuthorizationTokenObject>>('token', 'list', '--license', key);
    expect(listed.items.map((token) => [token.id, token.state])).toEqual([
      [second.authorization_token.id, 'active'],
      [first.authorization_token.id, 'replaced'],
    ]);
    expect(JSON.stringify(listed)).not.toContain(second.token);

    const shown = await cli.ok('token', 'show', String(first.authorization_token.id));
    expect(shown).toMatchObject({ authorization_token: { state: 'replaced' } });
    const revoked = await cli.ok('token', 'revoke', String(second.authorization_token.id));
    expect(revoked).toMatchObject({ authorization_token: { state: 'revoked' } });
    expect(await cli.fails('token', 'revoke', '999999')).toMatchObject({ error_code: 'token_not_found' });
    expect(await cli.fails('token', 'issue', '--license', UNKNOWN_KEY)).toMatchObject({
      error_code: 'license_not_found',
    });
  });

  describeApiTokenAdministration({ cli, server: () => server });

  describeLeaseRuleAdministration(cli, { dataDir, folder });

  // What these print does not depend on the way that the others go both times, and they are the longest by far.
  if (withServer) describeWebhookAdministration({ cli, dataDir, server: () => server });
  describeCertAdministration({ cli, dataDir, server: () => server });

  test('plans are listed, created, changed and deleted', async () => {
    const plans = await cli.ok<Listed<PlanObject>>('plan', 'list');
    expect(plans.items.map((plan) => plan.name)).toEqual(
      expect.arrayContaining(['trial', 'standard', 'professional', 'enterprise']),
    );
    expect(plans.next_cursor).toBeNull();

    const words = [
      '--display-name',
      'Gold plan',
      '--product',
      'other',
      '--tier',
      '25',
      '--duration-days',
      '90',
    ];
    const more = ['--grace-days', '7', '--max-activations', 'unlimited', '--features', 'export,reports'];
    type Changed = { plan: PlanObject };
    const { plan } = await cli.ok<Changed>('plan', 'create', '--name', 'gold', ...words, ...more);
    expect(plan).toEqual({
      id: expect.any(Number) as unknown,
      name: 'gold',
      display_name: 'Gold plan',
      product: 'other',
      tier: 25,
      duration_days: 90,
      grace_days: 7,
      max_activations: null,
      features: ['export', 'reports'],
      archived: false,
      licensing: 'node_locked',
      seats: null,
      overdraft_seats: 0,
      count_by: 'process',
      lease_seconds: 600,
      heartbeat_seconds: 200,
      linger_seconds: 0,
      borrow_max_hours: 0,
      borrow_max_count: null,
      borrow_keep_free: 0,
    });
    const update = ['plan', 'update', 'gold'];
    expect(await cli.ok(...update, '--tier', '26')).toEqual({ ok: true, plan: { ...plan, tier: 26 } });
    expect(
      await cli.ok(...update, '--any-product', '--features', '', '--max-activations', '2', '--archived'),
    ).toEqual({
      ok: true,
      plan: { ...plan, tier: 26, product: null, features: [], max_activations: 2, archived: true },
    });
    expect(await cli.ok(...update, '--add-features', 'sso,api')).toMatchObject({
      plan: { features: ['sso', 'api'] },
    });
    expect(await cli.ok(...update, '--remove-features', 'sso', '--add-features', 'export')).toMatchObject({
      plan: { features: ['api', 'export'] },
    });
    expect(await cli.ok(...update, '--no-archived', '--new-name', 'gilt')).toMatchObject({
      plan: { id: plan.id, name: 'gilt', archived: false },
    });
    expect(await cli.fails('plan', 'create', '--name', 'gilt')).toMatchObject({ error_code: 'plan_exists' });

    await newLicense({ plan: 'gilt' });
    expect(await cli.fails('plan', 'delete', 'gilt')).toMatchObject({ error_code: 'plan_in_use' });
    await cli.ok('plan', 'create', '--name', 'short-lived');
    expect(await cli.ok('plan', 'delete', 'short-lived')).toMatchObject({
      plan: { name: 'short-lived', max_activations: 1 },
    });
    expect(await cli.fails('plan', 'delete', 'short-lived')).toMatchObject({ error_code: 'plan_not_found' });
  });

  test('the signing key is shown and rotated', async () => {
    const before = await cli.ok<PublicKeys>('public-key');
    const after = await cli.ok<PublicKeys>('signing-key', 'rotate');
    expect(after.key_id).not.toBe(before.key_id);
    expect(after.keys.map((key) => [key.key_id, key.status])).toEqual(
      expect.arrayContaining([
        [after.key_id, 'active'],
        [before.key_id, 'retired'],
      ]),
    );
    expect(await cli.ok('public-key')).toEqual(after);
    expect(await cli.prints('public-key')).toBe(after.public_key_pem);
  });

  test('a leaked signing key is distrusted, and what it signed is refused and listed', async () => {
    const { key_id: leaked } = await cli.ok<PublicKeys>('public-key');
    expect(await cli.fails('public-key', '--distrust-list')).toMatchObject({ error_code: 'not_found' });
    const { license_key } = await newLicense();
    const request = join(temporaryDirectory(), 'machine.req');
    const file = join(temporaryDirectory(), 'license.lic');
    await cli.ok('request', '--license-key', license_key, '--fingerprint', FINGERPRINT, '--out', request);
    await cli.ok('activate-offline', '--request', request, '--out', file);
    const before = await cli.ok<PublicKeys>('public-key');

    const text = await cli.prints('signing-key', 'distrust', leaked, '--reason', 'stolen');
    expect(text).toContain(`License files under ${leaked} are refused from now on. This cannot be undone.`);
    const after = await cli.ok<PublicKeys>('public-key');
    expect(after.key_id).not.toBe(leaked);
    const list = join(temporaryDirectory(), 'distrust.list');
    writeFileSync(list, await cli.prints('public-key', '--distrust-list'));
    const pinned = JSON.stringify({ ...after, keys: [...before.keys, ...after.keys.slice(0, 1)] });
    const verify = (...words: string[]) =>
      runCli(['verify', file, '--public-key', pinned, '--fingerprint', FINGERPRINT, ...words]);
    expect(await verify()).toMatchObject({ exitCode: 0 });
    expect(await verify('--distrust-list', list)).toMatchObject({ exitCode: 20 });
    const future = await verify('--distrust-list', list, '--min-distrust-sequence', '99999999999');
    expect(future).toMatchObject({ exitCode: 1 });
    expect(future.stderr).toContain('at least 99999999999 is required');
    expect(await runCli(['verify', file, '--public-key', JSON.stringify(after)])).toMatchObject({
      exitCode: 20,
    });

    const { items } = await cli.ok<Listed<{ license_key: string }>>('signing-key', 'files', leaked);
    expect(items.map((item) => item.license_key)).toContain(license_key);
    expect(await cli.prints('signing-key', 'list')).toMatch(new RegExp(`${leaked} +distrusted`, 'u'));
    expect(await cli.fails('signing-key', 'distrust', '0'.repeat(16))).toMatchObject({
      error_code: 'not_found',
    });
  });

  test('stats count', async () => {
    await newLicense({ product: 'counted' });
    const stats = await cli.ok('stats', '--product', 'counted', '--from', '2026-01-01', '--to', '2026-01-31');
    expect(stats).toMatchObject({
      licenses: { total: 1, by_product: { counted: 1 } },
      activations: { total: 0 },
    });
    expect(await cli.prints('stats')).toMatch(/^Licenses: +\d+\n/u);
  });

  test('the audit log names the user of the command', async () => {
    const { license_id: id } = await newLicense();
    const subject = `license:${id}`;
    await cli.ok('license', 'revoke', String(id));
    const { items } = await cli.ok<Listed<AuditEntryObject>>('audit', 'list', '--subject', subject);
    expect(items.map((entry) => [entry.actor_kind, entry.action, entry.subject])).toEqual([
      ['cli', 'license.revoked', subject],
      ['cli', 'license.created', subject],
    ]);
    expect(items[0]!.actor_name).not.toBe('');
    expect(await cli.prints('audit', 'list', '--subject', subject!)).toMatch(
      / cli \S+ \(claimed\) +license\./u,
    );
    // A date for the end includes that day.
    const day = items[0]!.at.slice(0, 10);
    const ofDay = ['--from', day, '--to', day, '--subject', subject];
    const listed = await cli.ok<Listed<AuditEntryObject>>('audit', 'list', ...ofDay);
    expect(listed.items.map(({ action }) => action)).toContain('license.revoked');
  });

  test('reads as text without --json', async () => {
    const words = ['license', 'create', '--holder', 'Nováková & Partner s.r.o., Department of Long Names'];
    const created = await cli.prints(...words);
    const key = /^License key: +(\S+)$/mu.exec(created)![1]!;
    expect(created).toContain('Long Names\n');
    const list = await cli.prints('license', 'list', '--search', key);
    expect(list).toMatch(/^ID +KEY +HOLDER +PRODUCT +PLAN +STATE +EXPIRES +DEVICES\n/u);
    expect(list).toMatch(
      new RegExp(`^ *\\d+  ${key}  Nováková & Partner s\\.r\\.o\\., Depa…  my-product`, 'mu'),
    );
    expect(await cli.prints('license', 'list', '--search', 'nobody at all')).toBe('No licenses.\n');
    const token = await cli.prints('token', 'issue', '--license', key);
    expect(token).toMatch(/^Token: +ldt_\S+\nStore it now: it is not shown again/u);
    expect(await cli.prints('api-token', 'create', '--name', 'x', '--role', 'admin')).toMatch(
      /^API token: +ldk_\S+\nStore it now: it is not shown again/u,
    );
    expect(await cli.prints('plan', 'list')).toMatch(
      /^standard +Standard +any +10 +365 +14 +1 +node_locked +– +no$/mu,
    );
    expect(await cli.prints('audit', 'list', '--limit', '1')).toContain('Next page: --cursor ');
  });

  test('the audit log is exported to a new file', async () => {
    await newLicense();
    const file = join(folder, `audit-${withServer}.csv`);
    const exported = await cli.ok<{ file: string; bytes: number }>('audit', 'export', '--out', file);
    const text = readFileSync(file, 'utf8');
    expect(exported).toMatchObject({ file, bytes: Buffer.byteLength(text) });
    expect(text).toMatch(/^\uFEFF?id,at,actor_kind,/u);
    expect(text).toContain(',license.created,');
    expect((await cli.fails('audit', 'export', '--out', file)).message).toContain('the file already exists');
    const none = join(folder, `audit-${withServer}-none.csv`);
    await cli.ok('audit', 'export', '--out', none, '--actor', 'nobody');
    expect(readFileSync(none, 'utf8').trimEnd().split('\n')).toHaveLength(1);
  });

  test('retention shows what is stored and for how long', async () => {
    const { items, last_run_at } = await cli.ok<RetentionObject>('retention');
    expect(last_run_at).toBeNull();
    expect(items.find(({ kind }) => kind === 'events')).toMatchObject({ keep_days: 400, removed_total: 0 });
    const text = await cli.prints('retention');
    expect(text).toMatch(/^Events +\d+ +\d+ kB +\S+ +400 days +retain_events_days +0 removed$/mu);
    expect(text).toMatch(/^Audit entries .* forever +retain_audit_days /mu);
    expect(text).toMatch(/^Last run: +–$/mu);
  });

  test('the settings of a command count', async () => {
    expect(await createLicense(cli, '--default-product', 'from-flag')).toMatchObject({
      product: withServer ? 'my-product' : 'from-flag',
    });
    const bad = await runCli(['plan', 'list', '--json', '--data-dir', dataDir], {
      env: { LICENSE_DESK_PORT: 'x' },
    });
    expect(bad.exitCode).toBe(1);
    expect(JSON.parse(bad.stdout)).toMatchObject({ ok: false, error_code: 'invalid_request' });
    expect(bad.stderr).toBe('error: LICENSE_DESK_PORT is "x", but must be 0 to 65535\n');
  });

  test('open prints an address of the running server only', async () => {
    if (withServer) {
      const { address } = await cli.ok<{ address: string }>('open');
      expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?code=\S+$/u);
      expect(address).not.toBe(server!.ready.admin);
      expect(new URL(address).origin).toBe(new URL(server!.ready.admin).origin);
      expect(await cli.prints('open')).toMatch(/^http:\S+\n$/u);
    } else {
      const failure = await cli.fails('open');
      expect(failure.error_code).toBe('unavailable');
      expect(failure.message).toContain('license-desk serve');
    }
  });

  test('doctor finds everything in order', async () => {
    await newLicense();
    // A server is not ready while a write takes more than 2 s.
    const { checks } = await eventually(() =>
      cli.ok<{ checks: { check: string; ok: boolean; detail: string }[] }>('doctor'),
    );
    expect(checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining([
        'node',
        'config',
        'data_directory',
        'disk_space',
        'server',
        'database',
        'keys',
      ]),
    );
    expect(checks.filter(({ ok }) => !ok)).toEqual([]);
    const found = checks.find(({ check }) => check === 'server')!.detail;
    expect(found).toContain(withServer ? `process ${server!.ready.pid}` : 'not running');
    expect(await eventually(() => cli.prints('doctor'))).toMatch(/^CHECK +RESULT +DETAIL\nnode +ok +Node v/u);
  });

  describeLicenseAdministration({ cli, dataDir, server: () => server });
}
