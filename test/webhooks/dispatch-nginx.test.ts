// What an administrator reads when nginx in front of a partner has a certificate that is not right.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callRow, newBearer, newLicense } from '../helpers/contract-calls.ts';
import { webhookContract } from '#server/features/webhooks/webhook-contract.ts';
import { expectSuccess } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { CertificateAuthority } from './certificate-authority.ts';
import { newReceiverFolder } from './foreign-receiver.ts';
import { hasNginx, type Nginx, type Site, startNginx } from './nginx.ts';
import { attemptsOnce, deliveriesOnce, type Registered } from './partner.ts';

const why = hasNginx() ? '' : ' (skipped: Debian package nginx is not installed)';

/** [site, how it is called here, `last_error`, error class] */
const REFUSED = [
  ['expired', 'certificate expired on 2026-02-03', 'certificate'],
  ['not-yet', 'certificate is not valid before 2090-01-02', 'certificate'],
  [
    'self-signed',
    'certificate is self-signed (Lone Receiver); give it as the CA of this webhook to trust it',
    'certificate',
  ],
  ['stranger', 'certificate is issued by an unknown authority (Test Authority)', 'certificate'],
  ['wrong-name', 'certificate is for hooks.partner.example, 127.0.0.2, not for 127.0.0.1', 'certificate'],
  ['no-intermediate', 'certificate is issued by an unknown authority (Test Intermediate)', 'certificate'],
  ['tls-1.0', 'TLS version too old: the receiver must offer TLS 1.2 or later', 'tls'],
  ['tls-1.1', 'TLS version too old: the receiver must offer TLS 1.2 or later', 'tls'],
  ['plain', 'receiver does not use TLS on this port', 'tls'],
] as const;

const old = (version: string) => [`ssl_protocols ${version};`, 'ssl_ciphers DEFAULT@SECLEVEL=0;'];

describe.skipIf(!hasNginx())(`nginx${why}`, () => {
  let nginx: Nginx;
  let server: TestServer;
  let bearer: Record<string, string>;
  let authority: CertificateAuthority;
  let stranger: CertificateAuthority;
  let intermediate: string;
  let lone: Site & { identity: { cert: string } };

  beforeAll(async () => {
    authority = new CertificateAuthority();
    stranger = new CertificateAuthority();
    const caFile = join(newReceiverFolder(), 'ca.pem');
    writeFileSync(caFile, authority.cert);
    const identity = authority.issue({});
    intermediate = authority.createIntermediate();
    const indirect = authority.issue({ isIndirect: true });
    lone = { identity: authority.selfSigned() };
    nginx = await startNginx({
      good: { identity },
      'good-chain': { identity: { ...indirect, cert: indirect.cert + intermediate } },
      'no-intermediate': { identity: indirect },
      expired: { identity: authority.issue({ from: '20260101000000Z', until: '20260203000000Z' }) },
      'not-yet': { identity: authority.issue({ from: '20900102000000Z' }) },
      'self-signed': lone,
      stranger: { identity: stranger.issue({}) },
      'wrong-name': {
        identity: authority.issue({ altNames: ['DNS:hooks.partner.example', 'IP:127.0.0.2'] }),
      },
      'tls-1.0': { identity, lines: old('TLSv1') },
      'tls-1.1': { identity, lines: old('TLSv1.1') },
      'tls-1.2': { identity, lines: ['ssl_protocols TLSv1.2;'] },
      'tls-1.3': { identity, lines: ['ssl_protocols TLSv1.3;'] },
      plain: {},
      redirecting: { identity, lines: ['return 301 https://127.0.0.1/elsewhere;'] },
      'client-certificate': {
        identity,
        lines: [`ssl_client_certificate ${caFile};`, 'ssl_verify_client on;'],
      },
    });
    const flags = { 'webhook-allow': '127.0.0.0/8', 'webhook-ca': caFile, 'webhook-backoff-seconds': '60' };
    server = await startTestServer({ flags });
    bearer = await newBearer(server);
  });
  afterAll(async () => {
    await server.stop();
    for (const each of [authority, stranger]) each.remove();
  });

  /** What becomes of the first attempt to tell the site of an event. */
  async function tellOnce(site: string, ca?: string) {
    const { registerWebhook, deleteWebhook } = webhookContract;
    const request = { url: nginx.url(site), scope: 'license.renewed', ...(ca === undefined ? {} : { ca }) };
    const reply = await callRow(server, registerWebhook, request, bearer);
    expectSuccess(registerWebhook, reply);
    const registered = reply.body as Registered;
    const license = await newLicense(server, { holder: 'Engine & Söhne' });
    await server.admin.renewLicense({ ref: license.license_key, days: 1 });
    const [delivery] = await deliveriesOnce(server, registered, ([first]) => (first?.attempts ?? 0) > 0);
    const [attempt] = await attemptsOnce(server, delivery!.id, 1);
    await callRow(server, deleteWebhook, { id: registered.webhook.id }, bearer);
    return { delivery: delivery!, attempt: attempt! };
  }

  it.each(['good', 'good-chain', 'tls-1.2', 'tls-1.3'])('%s gets the delivery', async (site) => {
    const { delivery, attempt } = await tellOnce(site);
    expect(delivery).toMatchObject({ status: 'delivered', last_error: null });
    expect(attempt).toMatchObject({ delivered: true, status: 204, error_class: null });
    expect(nginx.answered(site)).toEqual([delivery.id]);
  });

  it.each(REFUSED)('%s is not: %s', async (site, error, errorClass) => {
    const { delivery, attempt } = await tellOnce(site);
    expect(delivery).toMatchObject({ status: 'retrying', last_error: error });
    expect(attempt).toMatchObject({
      delivered: false,
      status: null,
      error_class: errorClass,
      error,
      remote_address: '127.0.0.1',
    });
    // What was to be told has not gone out.
    expect(nginx.answered(site)).not.toContain(delivery.id);
  });

  it.each([
    ['redirecting', 'redirect to https://127.0.0.1/elsewhere not followed', 301],
    ['client-certificate', 'HTTP 400', 400],
  ])('%s answers, and not well: %s', async (site, error, status) => {
    const { delivery, attempt } = await tellOnce(site);
    expect(delivery).toMatchObject({ status: 'retrying', last_error: error });
    expect(attempt).toMatchObject({ delivered: false, status, error });
    expect(nginx.answered(site)).toEqual([delivery.id]);
  });

  it.each([
    ['self-signed', 'its own certificate', () => lone.identity.cert],
    ['stranger', "its authority's", () => stranger.cert],
    ['no-intermediate', 'the missing one', () => intermediate],
  ])('%s is told once the registration has %s', async (site, _what, ca) => {
    const { delivery } = await tellOnce(site, ca());
    expect(delivery).toMatchObject({ status: 'delivered', last_error: null });
    expect(nginx.answered(site)).toContain(delivery.id);
  });

  it('expired stays refused with any registered CA', async () => {
    const { delivery } = await tellOnce('expired', authority.cert);
    expect(delivery.last_error).toBe('certificate expired on 2026-02-03');
  });
});
