// What `webhook` and `events` do; nothing listens where most of these webhooks lead, so that attempts fail at once.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  AttemptObject,
  DeliveryObject,
  WebhookObject,
} from '#server/features/webhooks/webhook-contract.ts';
import { asCommand } from '../helpers/as-command.ts';
import { runCli, type Cli } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory, type ServerProcess } from '../helpers/server-process.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { startReceiver } from '../webhooks/receiver.ts';

/** Port 1 is nobody's. */
const URL_OF_NOBODY = 'https://127.0.0.1:1/hook';
const DAY_MS = 86_400_000;

/** Six attempts that are refused are over within a moment. */
export const WEBHOOK_FLAGS = {
  'webhook-allow': '127.0.0.0/8',
  'webhook-backoff-seconds': '0.001',
  'webhook-timeout-seconds': '60',
};
/** A command on the database judges addresses itself. */
export const WEBHOOK_ENV = {
  LICENSE_DESK_WEBHOOK_ALLOW: WEBHOOK_FLAGS['webhook-allow'],
  LICENSE_DESK_WEBHOOK_TIMEOUT_SECONDS: WEBHOOK_FLAGS['webhook-timeout-seconds'],
};

const ATTEMPT = {
  started_at: expect.any(String) as unknown,
  ms: expect.any(Number) as unknown,
  delivered: false,
  status: null,
  error_class: 'connection',
  error: 'connection refused',
  remote_address: '127.0.0.1',
  reply: '',
};

interface Registered {
  webhook: WebhookObject;
  secret: string;
}

interface Listed<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface SuiteContext {
  cli: Cli;
  dataDir: string;
  /** The server that runs all the while, if one does. */
  server(): ServerProcess | undefined;
}

export function describeWebhookAdministration({ cli, dataDir, server }: SuiteContext): void {
  const folder = temporaryDirectory('pem');
  const caFile = join(folder, 'ca.pem');
  let authority: CertificateAuthority;

  beforeAll(() => {
    authority = new CertificateAuthority();
    writeFileSync(caFile, authority.cert);
  });

  afterAll(() => authority.remove());

  async function register(...words: string[]): Promise<Registered> {
    return cli.ok<Registered>('webhook', 'register', '--url', URL_OF_NOBODY, ...words);
  }

  async function newWebhook(): Promise<WebhookObject> {
    const { webhook } = await asCommand(dataDir, (admin) =>
      admin.registerWebhook({ url: URL_OF_NOBODY, scope: 'all' }),
    );
    return webhook;
  }

  async function deliveriesOf({ id }: WebhookObject, ...words: string[]): Promise<Listed<DeliveryObject>> {
    return cli.ok<Listed<DeliveryObject>>('events', 'list', '--webhook', String(id), ...words);
  }

  /** Two deliveries of a webhook of their own, which no scan for expired licenses adds to. */
  async function queueTwo() {
    return asCommand(dataDir, async (admin) => {
      const { webhook } = await admin.registerWebhook({ url: URL_OF_NOBODY, scope: 'license.renewed' });
      const { license } = await admin.createLicense({ holder: 'Acme' });
      for (const days of [10, 20]) await admin.renewLicense({ ref: license.license_key, days });
      return { webhook, license };
    });
  }

  /** Waits until all deliveries of the webhook have failed; where no server runs, one does for as long. */
  async function letFail({ id }: WebhookObject): Promise<void> {
    const running = server();
    const sender = running ?? (await startServerProcess({ dataDir, flags: WEBHOOK_FLAGS }));
    for (;;) {
      const { items } = await sender.admin.listDeliveries({ webhook_id: id });
      if (items.every((delivery) => delivery.status === 'failed')) break;
      await delay(20);
    }
    if (!running) await sender.kill();
  }

  describe('webhook', () => {
    test('register takes every event, or what the options say', async () => {
      const { ok: _ok, ...registered } = await cli.ok<Registered>(
        'webhook',
        'register',
        '--url',
        URL_OF_NOBODY,
      );
      expect(registered).toEqual({
        webhook: {
          id: expect.any(Number) as unknown,
          url: URL_OF_NOBODY,
          scope: 'all',
          description: null,
          status: 'active',
          created_at: expect.any(String) as unknown,
          last_delivery_at: null,
          last_error: null,
          paused: false,
          last_test_at: null,
          last_test_error: null,
        },
        secret: expect.stringMatching(/^whsec_\S{40,}$/u) as unknown,
      });

      const { webhook } = await register('--scope', 'license.revoked', '--description', 'Kasse');
      expect(webhook).toMatchObject({ scope: 'license.revoked', description: 'Kasse' });
    });

    test('register says what is wrong', async () => {
      const words = ['webhook', 'register', '--url'];
      for (const url of ['http://127.0.0.1/hook', 'https://10.1.2.3/hook', 'https://169.254.169.254/']) {
        expect(await cli.fails(...words, url)).toMatchObject({ error_code: 'webhook_url_forbidden' });
      }
      expect(await cli.fails(...words, 'nowhere')).toMatchObject({ error_code: 'invalid_request' });

      const noCertificate = join(folder, 'text.pem');
      writeFileSync(noCertificate, 'no certificate');
      const withCa = [...words, URL_OF_NOBODY, '--ca'];
      expect(await cli.fails(...withCa, noCertificate)).toMatchObject({ error_code: 'invalid_request' });
      expect(await cli.fails(...withCa, join(folder, 'none'))).toMatchObject({ error_code: 'not_found' });
    });

    test('list goes on page by page, without secrets', async () => {
      const older = await newWebhook();
      const newer = await newWebhook();
      const first = await cli.ok<Listed<WebhookObject>>('webhook', 'list', '--limit', '1');
      expect(first).toEqual({
        ok: true,
        items: [newer],
        next_cursor: expect.any(String) as unknown,
      });
      const words = ['webhook', 'list', '--limit', '1', '--cursor', first.next_cursor!];
      const second = await cli.ok<Listed<WebhookObject>>(...words);
      expect(second.items).toEqual([older]);
    });

    test('rotate gives a new secret', async () => {
      const { webhook, secret } = await register();
      type Rotated = Registered & { overlap_ends_at: string };
      const before = Date.now();
      const rotated = await cli.ok<Rotated>('webhook', 'rotate', String(webhook.id));
      expect(rotated).toEqual({
        ok: true,
        webhook,
        secret: expect.stringMatching(/^whsec_\S{40,}$/u) as unknown,
        overlap_ends_at: expect.any(String) as unknown,
      });
      expect(rotated.secret).not.toBe(secret);
      const overlapMs = Date.parse(rotated.overlap_ends_at) - before;
      expect(Math.abs(overlapMs - DAY_MS)).toBeLessThan(60_000);
    });

    test('edit changes what the options say, and clears what they empty', async () => {
      const { webhook } = await register('--description', 'Kasse', '--ca', caFile);
      const id = String(webhook.id);
      const url = 'https://127.0.0.1:1/moved';
      const edit = (...words: string[]) => cli.ok<Registered>('webhook', 'edit', id, ...words);
      expect(await edit('--url', url, '--scope', 'license.revoked')).toEqual({
        ok: true,
        webhook: { ...webhook, url, scope: 'license.revoked' },
      });
      const { webhook: cleared } = await edit('--description', '', '--no-ca');
      expect(cleared).toMatchObject({ url, scope: 'license.revoked', description: null });
      expect(await cli.ok('webhook', 'show', id)).toEqual({
        ok: true,
        webhook: cleared,
        own_ca: false,
        recent: { delivered: 0, attempted: 0, since: expect.any(String) as unknown },
      });
      expect(await cli.prints('webhook', 'show', id)).toMatch(
        /^0 of 0 deliveries since \d{4}-.* succeeded\.$/mu,
      );
      expect(await cli.fails('webhook', 'edit', id, '--url', 'http://127.0.0.1/')).toMatchObject({
        error_code: 'webhook_url_forbidden',
      });
    });

    test('pause holds deliveries back until resume', async () => {
      const webhook = await newWebhook();
      const id = String(webhook.id);
      for (const [command, paused] of [
        ['pause', true],
        ['resume', false],
      ] as const)
        expect(await cli.ok('webhook', command, id)).toEqual({ ok: true, webhook: { ...webhook, paused } });
    });

    test('delete is for good', async () => {
      const webhook = await newWebhook();
      expect(await cli.ok('webhook', 'delete', String(webhook.id))).toEqual({ ok: true, webhook });
      const { items } = await cli.ok<Listed<WebhookObject>>('webhook', 'list');
      expect(items.map(({ id }) => id)).not.toContain(webhook.id);
      for (const command of ['delete', 'rotate', 'test', 'edit', 'pause', 'resume', 'show']) {
        expect(await cli.fails('webhook', command, String(webhook.id))).toMatchObject({
          error_code: 'webhook_not_found',
        });
      }
    });

    test('test tells how it went', async () => {
      const webhook = await newWebhook();
      const failure = await cli.fails('webhook', 'test', String(webhook.id));
      expect(failure).toMatchObject({ error_code: 'unavailable', attempt: ATTEMPT });
      expect(failure.message).toBe('the receiver did not accept the test event: connection refused');

      const result = await runCli(['webhook', 'test', String(webhook.id), '--data-dir', dataDir], {
        env: WEBHOOK_ENV,
      });
      expect(result).toMatchObject({ exitCode: 1, stderr: `error: ${failure.message}\n` });
      expect(result.stdout).toMatch(/^Sent: +\d{4}-.*\nTook: +\d+ ms\n/u);
      // No delivery is made of it; the license scan may make others meanwhile.
      const { items } = await deliveriesOf(webhook);
      expect(items.filter(({ event }) => event.startsWith('webhook.'))).toEqual([]);
    });

    test('test succeeds where the receiver accepts, with a certificate of a private authority too', async () => {
      const receiver = await startReceiver(authority.issue({}));
      const words = ['webhook', 'register', '--url', receiver.url, '--ca', caFile];
      const { webhook } = await cli.ok<Registered>(...words);
      const { attempt } = await cli.ok<{ attempt: AttemptObject }>('webhook', 'test', String(webhook.id));
      expect(attempt).toEqual({
        ...ATTEMPT,
        delivered: true,
        status: 200,
        error_class: null,
        error: null,
        reply: 'thanks',
      });
      expect(await cli.prints('webhook', 'test', String(webhook.id))).toMatch(
        /^The receiver accepted the test event\.\n\nSent: [\s\S]+\nStatus: +200\nError: +–\nReply: +thanks\n$/u,
      );
      expect(receiver.requests).toHaveLength(2);
      expect(JSON.parse(receiver.requests[0]!.body)).toMatchObject({ event: 'webhook.test' });
    });

    test('reads as text without --json', async () => {
      const registered = await cli.prints('webhook', 'register', '--url', URL_OF_NOBODY);
      expect(registered).toMatch(
        /^Secret: +whsec_\S+\nStore it now: it is not shown again.*\n\nID: +\d+\nURL: +https:/u,
      );
      const id = /^ID: +(\d+)$/mu.exec(registered)![1]!;
      expect(await cli.prints('webhook', 'list', '--limit', '1')).toMatch(
        /^ID +URL +SCOPE +DESCRIPTION +STATUS +CREATED +LAST DELIVERY +LAST ERROR\n *\d+ +https:\S+ +all +– +active /u,
      );
      const rotated = await cli.prints('webhook', 'rotate', id);
      expect(rotated).toMatch(/^Secret: +whsec_\S+\nStore it now: it is not shown again/u);
      expect(rotated).toMatch(/^Until \d{4}-\d{2}-\d{2} \S+ UTC, webhook-signature /mu);
      expect(await cli.prints('webhook', 'delete', id)).toMatch(/^Deleted\.\n\nID: +\d+\n/u);
    });
  });

  describe('events', () => {
    test('list filters and goes on page by page', async () => {
      const { webhook } = await queueTwo();
      const { items } = await deliveriesOf(webhook);
      expect(items).toHaveLength(2);
      expect(Object.keys(items[0]!)).toEqual([
        'id',
        'event',
        'webhook_id',
        'url',
        'status',
        'attempts',
        'last_error',
        'next_attempt_at',
        'created_at',
      ]);
      const event = 'license.renewed';
      expect(items[0]).toMatchObject({ event, webhook_id: webhook.id, url: URL_OF_NOBODY });
      const ids = items.map(({ id }) => id);

      const idsOf = async (...words: string[]) =>
        (await deliveriesOf(webhook, ...words)).items.map(({ id }) => id);
      expect(await idsOf('--event', 'license.renewed')).toEqual(ids);
      expect(await idsOf('--event', 'license.revoked')).toEqual([]);
      expect(await idsOf('--status', 'delivered')).toEqual([]);
      expect(await idsOf('--since', '2001-01-31')).toEqual(ids);
      expect(await idsOf('--since', '2090-01-31T12:00:00+02:00')).toEqual([]);
      const { next_cursor: next } = await deliveriesOf(webhook, '--limit', '1');
      expect(await idsOf('--limit', '1', '--cursor', next!)).toEqual([ids[1]]);
    });

    test('failed deliveries are shown with every attempt, and sent again', async () => {
      const { webhook, license } = await queueTwo();
      await letFail(webhook);
      const { items } = await deliveriesOf(webhook, '--status', 'failed');
      expect(items).toMatchObject([
        { attempts: 6, next_attempt_at: null },
        { attempts: 6, next_attempt_at: null },
      ]);
      const [failed] = items as [DeliveryObject, DeliveryObject];
      expect(failed.last_error).toBe('connection refused');

      type Shown = { delivery: DeliveryObject; body: string; attempts: AttemptObject[] };
      const shown = await cli.ok<Shown>('events', 'show', String(failed.id));
      expect(shown.delivery).toEqual(failed);
      expect(JSON.parse(shown.body)).toMatchObject({
        event: 'license.renewed',
        license_id: license.license_id,
        previous_expires_at: expect.any(String) as unknown,
      });
      const attempt = { id: expect.any(Number) as unknown, ...ATTEMPT };
      expect(shown.attempts).toEqual(Array.from({ length: 6 }, () => attempt));

      const all = ['events', 'retry', '--all'];
      const ofWebhook = [...all, '--webhook', String(webhook.id)];
      expect(await cli.ok(...ofWebhook, '--since', '2090-01-31')).toEqual({ ok: true, retried: 0 });
      expect(await cli.ok(...ofWebhook, '--since', '2001-01-31')).toEqual({ ok: true, retried: 2 });

      await letFail(webhook);
      const retried = await cli.ok<{ delivery: DeliveryObject }>('events', 'retry', String(failed.id));
      expect(retried.delivery).toMatchObject({ id: failed.id, status: 'pending', attempts: 0 });
      if (!server()) expect(await cli.ok(...ofWebhook)).toEqual({ ok: true, retried: 1 });
    });

    test('a delivery that did not fail, or whose webhook was deleted, is not sent again', async () => {
      const { webhook } = await queueTwo();
      if (server()) await letFail(webhook);
      await cli.ok('webhook', 'delete', String(webhook.id));
      const { items } = await deliveriesOf(webhook);
      // A server gave up before; otherwise there was something left to cancel.
      const status = server() ? 'failed' : 'cancelled';
      expect(items).toMatchObject([{ status }, { status }]);
      const [first] = items as [DeliveryObject, DeliveryObject];
      expect(await cli.ok('events', 'retry', String(first.id))).toEqual({ ok: true, delivery: first });
      expect(await cli.prints('events', 'retry', String(first.id))).toContain(
        server()
          ? `Delivery ${first.id} cannot be retried: its webhook was deleted.\n`
          : `Delivery ${first.id} has not failed (${status}); nothing to retry.\n`,
      );
      expect(await cli.ok('events', 'retry', '--all', '--webhook', String(webhook.id))).toMatchObject({
        retried: 0,
      });
    });

    test('an unknown delivery is not found', async () => {
      for (const command of ['show', 'retry']) {
        expect(await cli.fails('events', command, '999999')).toMatchObject({
          error_code: 'delivery_not_found',
        });
      }
    });

    test('reads as text without --json', async () => {
      const { webhook } = await queueTwo();
      const [newer] = (await deliveriesOf(webhook)).items as [DeliveryObject, DeliveryObject];
      const ofWebhook = ['--webhook', String(webhook.id)];
      if (!server()) {
        expect(await cli.prints('events', 'show', String(newer.id))).toMatch(/^No attempts yet\.$/mu);
      }
      await letFail(webhook);

      const list = await cli.prints('events', 'list', ...ofWebhook);
      expect(list).toMatch(
        /^ID +EVENT +WEBHOOK +URL +STATUS +ATTEMPTS +CREATED +NEXT ATTEMPT +LAST ERROR\n *\d+ +license\.renewed +\d+ /u,
      );
      expect(list).toMatch(/ failed +6 +\d{4}-\d{2}-\d{2} \S+ UTC +– +\S+/u);
      const shown = await cli.prints('events', 'show', String(newer.id));
      expect(shown).toMatch(
        /^Delivery: +\d+\nEvent: +license\.renewed\n[\s\S]+\n\n\{"event":"license\.renewed",.*\}\n\nSENT +MS +/u,
      );
      expect(shown.match(/ {2}.*connection refused/gu)?.length).toBeGreaterThanOrEqual(6);
      expect(await cli.prints('events', 'list', ...ofWebhook, '--status', 'delivered')).toBe(
        'No deliveries.\n',
      );

      const later = server() ? '' : ' No server is running; the next one sends it.';
      expect(await cli.prints('events', 'retry', String(newer.id))).toMatch(
        new RegExp(`^Delivery ${newer.id} is waiting to be sent\\.${later}\n\nDelivery: +${newer.id}\n`, 'u'),
      );
      // Where a server runs the newer one may have failed again.
      const all = await cli.prints('events', 'retry', '--all', ...ofWebhook);
      expect([`Retrying 1 delivery.${later}\n`, `Retrying 2 deliveries.${later}\n`]).toContain(all);
      const none = ['events', 'retry', '--all', ...ofWebhook, '--since', '2090-01-31'];
      expect(await cli.prints(...none)).toBe('No failed deliveries to retry.\n');
    });
  });
}
