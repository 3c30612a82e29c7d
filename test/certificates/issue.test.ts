// POST /certs/generate/: what is issued to whom, and what is left of it.
import { createPublicKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { publicContract } from '#server/contract.ts';
import { callRow, newBearer, newLicense, success, unique } from '../helpers/contract-calls.ts';
import { dumpDatabase, selectRows, writeRows } from '../helpers/database.ts';
import { eventsOf, plantWebhook } from '../helpers/outbox.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { certificatesIn, issue, newSigningRequest, REQUEST } from './issuing.ts';
import { openssl } from './openssl.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const START = Math.floor(Date.now() / 1000) * 1000;
const clock = createTestClock(START);
let server: TestServer;
let bearer: Record<string, string>;

beforeAll(async () => {
  server = await startTestServer({ clock });
  bearer = await newBearer(server, 'integrator');
  // Authority and list, whose making would be a change.
  await server.get('/certs/crl/');
});
afterAll(() => server.stop());
beforeEach(() => clock.set(START));

const at = (ms: number) => new Date(ms).toISOString();
const row = publicContract.generateCertificate;
const generate = (input: Record<string, unknown>, headers = bearer) => callRow(server, row, input, headers);
const text = (pem: string) => openssl(['x509', '-noout', '-text'], pem);

describe('a certificate', () => {
  it('has a new private key', async () => {
    const license = await newLicense(server);
    const input = { license_id: license.license_id, common_name: 'Laboratoř 1' };
    const { certificate, ca_certificate, ...download } = await success(
      server,
      'generateCertificate',
      input,
      bearer,
    );
    const [authority, ...others] = certificatesIn(ca_certificate);
    expect(others).toEqual([]);
    const read = new X509Certificate(certificate.pem);
    expect(certificate).toEqual({
      id: expect.any(Number) as number,
      serial_number: expect.stringMatching(/^[4-7][0-9a-f]{31}$/u) as string,
      license_id: license.license_id,
      common_name: 'Laboratoř 1',
      subject: 'CN=Laboratoř 1',
      not_before: at(START - 5 * MINUTE_MS),
      not_after: at(START + 365 * DAY_MS),
      fingerprint_sha256: read.fingerprint256.replaceAll(':', '').toLowerCase(),
      status: 'good',
      revoked_at: null,
      reason: null,
      pem: expect.stringMatching(
        /^-----BEGIN CERTIFICATE-----\n[\s\S]+-----END CERTIFICATE-----\n$/u,
      ) as string,
    });
    expect(download).toEqual({
      ok: true,
      download_token: expect.stringMatching(/^ldd_[\w-]{43}$/u) as string,
      download_url: `${server.api}/certs/download-key/?token=${download.download_token}`,
      download_expires_at: at(START + 15 * MINUTE_MS),
    });
    expect([read.serialNumber.toLowerCase(), read.subject, read.ca]).toEqual([
      certificate.serial_number,
      'CN=Laboratoř 1',
      false,
    ]);
    expect([Date.parse(read.validFrom), Date.parse(read.validTo)]).toEqual([
      START - 5 * MINUTE_MS,
      START + 365 * DAY_MS,
    ]);
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(read.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
    expect(read.verify(authority!.publicKey)).toBe(true);
  });

  it('has the extensions of the contract and no others', async () => {
    const { certificate, ca_certificate } = await issue(server, { email: 'jan@example.org' });
    const shown = text(certificate.pem);
    const names = [...shown.matchAll(/^ {12}X509v3 (.+?): ?(critical)?\s*$/gmu)].map(([, name, critical]) =>
      critical ? `${name} !` : name,
    );
    expect(names.toSorted()).toEqual([
      'Authority Key Identifier',
      'Basic Constraints !',
      'CRL Distribution Points',
      'Extended Key Usage',
      'Key Usage !',
      'Subject Alternative Name',
      'Subject Key Identifier',
    ]);
    expect(shown).toContain(`URI:${server.api}/certs/crl/?format=der\n`);
    expect(shown).toMatch(/Key Usage: critical\n +Digital Signature\n/u);
    expect(shown).toMatch(/Extended Key Usage: \n +TLS Web Client Authentication\n/u);
    const identifier = /Subject Key Identifier: \n +([\dA-F:]+)/u.exec(text(ca_certificate))?.[1];
    expect(shown).toMatch(new RegExp(`Authority Key Identifier: \\n +${identifier}\\n`, 'u'));
  });

  it('is under an authority of RSA-3072 for ten years, which signs certificates and lists, and nothing under it', async () => {
    const { ca_certificate } = await issue(server);
    const shown = text(ca_certificate);
    expect(shown).toMatch(/Key Usage: critical\n +Certificate Sign, CRL Sign\n/u);
    expect(shown).toMatch(/Basic Constraints: critical\n +CA:TRUE, pathlen:0\n/u);
    const { authority } = await server.admin.showAuthority({});
    const [read] = certificatesIn(ca_certificate);
    expect(read!.publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: 3072 });
    expect(authority).toEqual({
      subject: expect.stringMatching(/^CN=License Desk CA [0-9a-f]{8},O=License Desk$/u) as string,
      serial_number: read!.serialNumber.toLowerCase(),
      not_before: at(START - 5 * MINUTE_MS),
      not_after: at(new Date(START).setUTCFullYear(new Date(START).getUTCFullYear() + 10)),
      fingerprint_sha256: read!.fingerprint256.replaceAll(':', '').toLowerCase(),
      key_type: 'rsa-3072',
      ca_certificate,
    });
  });

  it('is of the license that its key names, with organization and email', async () => {
    const { license_key, license_id } = await newLicense(server);
    const { certificate } = await success(
      server,
      'generateCertificate',
      {
        license_key: license_key.toLowerCase(),
        common_name: '王小明, "Lab"',
        organization: 'Příliš žluťoučký kůň, s.r.o.',
        email: 'wang@example.org',
        csr: REQUEST.csr,
      },
      bearer,
    );
    expect(certificate).toMatchObject({
      license_id,
      subject: String.raw`CN=王小明\, \"Lab\",emailAddress=wang@example.org,O=Příliš žluťoučký kůň\, s.r.o.`,
    });
    const subject = ['x509', '-noout', '-subject', '-nameopt', 'RFC2253,-esc_msb,utf8'];
    expect(openssl(subject, certificate.pem)).toBe(`subject=${certificate.subject}\n`);
    expect(new X509Certificate(certificate.pem).subjectAltName).toBe('email:wang@example.org');
    openssl(['asn1parse'], certificate.pem);
  });

  it.each([3072, 4096] as const)('has a key of %i bits on request', async (key_size) => {
    const { license_id } = await newLicense(server);
    const { certificate, download_token } = await server.admin.generateCertificate({
      license_id,
      common_name: 'Long',
      key_size,
    });
    const { publicKey } = new X509Certificate(certificate.pem);
    expect(publicKey.asymmetricKeyDetails).toMatchObject({ modulusLength: key_size });
    const { body } = await server.get(`/certs/download-key/?token=${download_token}`);
    expect(createPublicKey(body.private_key as string).equals(publicKey)).toBe(true);
  });

  it('is for the key of a signing request, of which nothing else counts', async () => {
    const wish = newSigningRequest(
      '-addext',
      'basicConstraints=critical,CA:TRUE',
      '-addext',
      'keyUsage=keyCertSign',
      '-addext',
      'subjectAltName=DNS:bank.example',
      '-addext',
      'extendedKeyUsage=serverAuth',
      '-addext',
      '1.2.3.4=critical,DER:0500',
    );
    const { license_id } = await newLicense(server);
    const input = { license_id, common_name: 'Own key', csr: wish.csr, key_size: 4096 };
    const reply = await success(server, 'generateCertificate', input, bearer);
    expect(Object.keys(reply)).toEqual(['ok', 'certificate', 'ca_certificate']);
    const read = new X509Certificate(reply.certificate.pem as string);
    expect([read.subject, read.ca, read.subjectAltName]).toEqual(['CN=Own key', false, undefined]);
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(read.publicKey.equals(createPublicKey(wish.privateKey))).toBe(true);
    expect(text(reply.certificate.pem as string)).not.toMatch(/1\.2\.3\.4|bank\.example|Certificate Sign/u);
  });

  it('is valid for the requested days, but not beyond its authority', async () => {
    const { authority } = await server.admin.showAuthority({});
    const endAfter = async (validity_days: number) =>
      Date.parse((await issue(server, { validity_days })).certificate.not_after);
    expect(await endAfter(1)).toBe(START + DAY_MS);
    expect(await endAfter(730)).toBe(START + 730 * DAY_MS);
    clock.advance(999);
    expect(await endAfter(36_500)).toBe(Date.parse(authority.not_after));
  });

  it('is issued repeatedly for one license and one key', async () => {
    const { license_id } = await newLicense(server);
    const [first, second] = [await issue(server, { license_id }), await issue(server, { license_id })];
    expect(first.certificate.serial_number).not.toBe(second.certificate.serial_number);
  });
});

describe('an Idempotency-Key', () => {
  it('gives the first reply again, and one certificate', async () => {
    const { license_id } = await newLicense(server);
    const headers = { ...bearer, 'idempotency-key': unique('order') };
    const order = { license_id, common_name: 'Once' };
    const replies = await Promise.all(Array.from({ length: 4 }, () => generate(order, headers)));
    replies.push(await generate(order, headers));
    expect(new Set(replies.map(({ status, body }) => JSON.stringify([status, body]))).size).toBe(1);
    expect(replies[0]?.body.download_token).toMatch(/^ldd_/u);
    const { items } = await server.admin.listCertificates({ license: String(license_id) });
    expect(items).toHaveLength(1);
    const [keys] = await selectRows(
      server.dataDir,
      `SELECT count(*) AS count FROM certificate_keys WHERE certificate_id = ${items[0]!.id}`,
    );
    expect(keys.count).toBe(1);
    expectFailure(await generate({ ...order, common_name: 'Twice' }, headers), 'idempotency_conflict');
  });
});

describe('what is left of it', () => {
  it('is one event with the fields of the contract, and one audit row without the certificate', async () => {
    const license = await newLicense(server, { holder: 'Žofie "Ω" <株>' });
    const { license_id } = license;
    const { certificate } = await success(
      server,
      'generateCertificate',
      { license_id, common_name: 'Told', csr: REQUEST.csr },
      bearer,
    );
    const { serial_number, subject, not_before, not_after, fingerprint_sha256, id } = certificate;
    expect((await eventsOf(server.dataDir, license_id)).map(({ body }) => body as unknown)).toEqual([
      {
        event: 'certificate.generated',
        timestamp: at(START),
        license_id,
        license_key: license.license_key,
        holder: license.holder,
        product: license.product,
        plan: license.plan,
        machine_fingerprint: null,
        issued_at: license.issued_at,
        expires_at: license.expires_at,
        certificate: { serial_number, subject, not_before, not_after, fingerprint_sha256 },
      },
    ]);
    const { items } = await server.admin.listAudit({ subject: `certificate:${id}` });
    const { pem: _pem, ...record } = certificate;
    expect(items).toMatchObject([
      { action: 'certificate.generated', actor_kind: 'api_token', before: null, after: record },
    ]);
  });

  it.each(['audit_entries', 'deliveries', 'events', 'certificate_keys', 'idempotent_replies'])(
    'is nothing if %s cannot be written',
    async (table) => {
      await plantWebhook(server.dataDir, 'certificate.generated');
      const { license_id } = await newLicense(server);
      await writeRows(
        server.dataDir,
        `CREATE TRIGGER obstacle BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'an obstacle'); END`,
      );
      const before = await dumpDatabase(server.dataDir);
      const headers = { ...bearer, 'idempotency-key': unique('halfway') };
      const order = { license_id, common_name: 'Halfway' };
      expectFailure(await generate(order, headers), 'internal_error');
      expect(await dumpDatabase(server.dataDir)).toBe(before);
      await writeRows(server.dataDir, 'DROP TRIGGER obstacle');
      expect((await generate(order, headers)).status).toBe(200);
      expect((await eventsOf(server.dataDir, license_id)).map((event) => event.name)).toEqual([
        'certificate.generated',
      ]);
    },
  );
});
