// POST /certs/validate/: whether a certificate is one of ours and good, and that nothing else is ever taken for one.
import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  buildClientCertificate,
  buildServerCertificate,
} from '#server/features/certificates/certificate-builder.ts';
import { type Issuer, newSerial, readIssuer } from '#server/features/certificates/issuer.ts';
import { toPem } from '#server/features/certificates/pem.ts';
import { success } from '../helpers/contract-calls.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { authoritysIssuer } from './authoritys-key.ts';
import { certificatesIn, issue, REQUEST } from './issuing.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
const START = Math.floor(Date.now() / 1000) * 1000;
const clock = createTestClock(START);
const publicKey = createPublicKey(REQUEST.privateKey);
let server: TestServer;
/** The authority's own, taken from the database by the master key. */
let ours: Issuer;

beforeAll(async () => {
  server = await startTestServer({ clock });
  await server.admin.showAuthority({});
  ours = await authoritysIssuer(server.dataDir);
});
afterAll(() => server.stop());
beforeEach(() => clock.set(START));

const at = (ms: number) => new Date(ms).toISOString();
const validate = (input: Record<string, unknown>) => success(server, 'validateCertificate', input);
const term = { notBefore: START - DAY_MS, notAfter: START + 30 * DAY_MS };
const crlUrl = 'http://127.0.0.1/crl';
const order = (issuer: Issuer, serial = newSerial()) => ({
  issuer,
  serial,
  names: { commonName: 'forged' },
  publicKey,
  crlUrl,
  ...term,
});

describe('a certificate of ours', () => {
  it('is good, by its PEM and by its serial number', async () => {
    const { certificate } = await issue(server, { organization: 'Büro, "Nord"' });
    const verdict = {
      ok: true,
      valid: true,
      status: 'good',
      serial_number: certificate.serial_number,
      subject: certificate.subject,
      not_after: certificate.not_after,
      revoked_at: null,
      reason: null,
    };
    expect(await validate({ certificate: certificate.pem })).toEqual(verdict);
    const serial = certificate.serial_number;
    const colons = serial.toUpperCase().match(/../gu)!.join(':');
    for (const serial_number of [
      serial,
      serial.toUpperCase(),
      colons,
      `0x${serial}`,
      `00${serial}`,
      ` ${serial}\n`,
    ]) {
      expect(await validate({ serial_number })).toEqual(verdict);
    }
  });

  it('may come with text around it, other line ends, and those that signed it behind it', async () => {
    const { certificate, ca_certificate } = await issue(server);
    const { pem } = certificate;
    for (const given of [
      `\n\nsubject=x\n${pem}\n`,
      pem.replaceAll('\n', '\r\n'),
      pem + ca_certificate,
      pem.trimEnd(),
    ]) {
      expect(await validate({ certificate: given })).toMatchObject({ valid: true, status: 'good' });
    }
  });

  it('is revoked from the very next call, with moment and reason', async () => {
    const { certificate } = await issue(server);
    await server.admin.revokeCertificate({ id: certificate.id, reason: 'key_compromise' });
    for (const input of [{ certificate: certificate.pem }, { serial_number: certificate.serial_number }]) {
      expect(await validate(input)).toMatchObject({
        valid: false,
        status: 'revoked',
        revoked_at: at(START),
        reason: 'key_compromise',
      });
    }
    clock.advance(400 * DAY_MS);
    expect(await validate({ certificate: certificate.pem })).toMatchObject({ status: 'revoked' });
  });

  it('is good from its first second to its last, both included', async () => {
    const { certificate } = await issue(server, { validity_days: 2 });
    const statusAt = async (ms: number) => {
      clock.set(ms);
      const [byPem, bySerial] = [
        await validate({ certificate: certificate.pem }),
        await validate({ serial_number: certificate.serial_number }),
      ];
      expect(byPem).toEqual(bySerial);
      expect(byPem.valid).toBe(byPem.status === 'good');
      return byPem.status as string;
    };
    const end = START + 2 * DAY_MS;
    const statuses = [];
    for (const ms of [START - 5 * MINUTE_MS - 1, START - 5 * MINUTE_MS, START, end, end + 1])
      statuses.push(await statusAt(ms));
    expect(statuses).toEqual(['not_yet_valid', 'good', 'good', 'good', 'expired']);
  });
});

describe('a certificate that is not ours', () => {
  it('has an unknown issuer, even with the names and serial number of an issued one', async () => {
    const { certificate } = await issue(server);
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const serial = Buffer.from(certificate.serial_number, 'hex');
    const forged = buildClientCertificate(order({ ...ours, privateKey }, serial));
    expect(await validate({ certificate: toPem('CERTIFICATE', forged) })).toEqual({
      ok: true,
      valid: false,
      status: 'unknown_issuer',
      serial_number: certificate.serial_number,
      subject: 'CN=forged',
      not_after: at(term.notAfter),
      revoked_at: null,
      reason: null,
    });
  });

  it('is of an unknown issuer if it is ours with one bit changed', async () => {
    const { certificate } = await issue(server);
    const der = new X509Certificate(certificate.pem).raw;
    for (const position of [der.length - 1, der.length - 200, der.indexOf('client') + 3]) {
      const altered = Buffer.from(der);
      altered[position]! ^= 1;
      const verdict = await validate({ certificate: toPem('CERTIFICATE', altered) });
      expect(verdict).toMatchObject({ valid: false, status: 'unknown_issuer' });
    }
  });

  it('is of an unknown issuer if a certificate of ours has signed it', async () => {
    const { certificate } = await issue(server);
    const { privateKey, publicKey: rsa } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const below = { ...readIssuer(new X509Certificate(certificate.pem).raw), privateKey };
    const forged = buildClientCertificate({
      ...order({ ...below, keyIdentifier: below.keyIdentifier! }),
      publicKey: rsa,
    });
    const pem = toPem('CERTIFICATE', forged) + certificate.pem;
    expect(await validate({ certificate: pem })).toMatchObject({ status: 'unknown_issuer' });
  });
});

describe('a certificate with our signature that was not issued to a client', () => {
  const unknown = { valid: false, status: 'unknown', revoked_at: null, reason: null };

  it('is unknown: that of a server', async () => {
    const serial = newSerial();
    const der = buildServerCertificate({
      issuer: ours,
      serial,
      commonName: 'localhost',
      hosts: ['localhost'],
      publicKey,
      crlUrl,
      ...term,
    });
    expect(await validate({ certificate: toPem('CERTIFICATE', der) })).toEqual({
      ok: true,
      ...unknown,
      serial_number: serial.toString('hex'),
      subject: 'CN=localhost',
      not_after: at(term.notAfter),
    });
  });

  it('is unknown: that of the authority', async () => {
    const { authority } = await server.admin.showAuthority({});
    expect(await validate({ certificate: authority.ca_certificate })).toMatchObject({
      ...unknown,
      subject: authority.subject,
    });
    expect(await validate({ serial_number: authority.serial_number })).toMatchObject(unknown);
  });

  it('is unknown: one that the database has never seen', async () => {
    const der = buildClientCertificate(order(ours));
    expect(await validate({ certificate: toPem('CERTIFICATE', der) })).toMatchObject(unknown);
  });

  it('is unknown: another one with the serial number of an issued one', async () => {
    const { certificate } = await issue(server);
    const der = buildClientCertificate(order(ours, Buffer.from(certificate.serial_number, 'hex')));
    expect(await validate({ certificate: toPem('CERTIFICATE', der) })).toMatchObject(unknown);
  });
});

describe('a serial number', () => {
  it('that was never issued is unknown', async () => {
    for (const serial_number of ['1', 'AB:CD', '0x7f', 'f'.repeat(64)]) {
      expect(await validate({ serial_number })).toEqual({
        ok: true,
        valid: false,
        status: 'unknown',
        serial_number: serial_number.replace(/^0x/u, '').replaceAll(':', '').toLowerCase(),
        subject: null,
        not_after: null,
        revoked_at: null,
        reason: null,
      });
    }
  });
});

describe('refused is', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['nothing', {}, 'certificate'],
    ['both at once', { certificate: 'x', serial_number: '1' }, 'certificate'],
    ['text', { certificate: 'hello' }, 'certificate'],
    ['an empty text', { certificate: '' }, 'certificate'],
    [
      'an empty block',
      { certificate: '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n' },
      'certificate',
    ],
    ['half a block', { certificate: '-----BEGIN CERTIFICATE-----\nMIIB' }, 'certificate'],
    ['a private key', { certificate: REQUEST.key }, 'certificate'],
    ['a signing request', { certificate: REQUEST.csr }, 'certificate'],
    ['an encrypted block', { certificate: encrypted() }, 'certificate'],
    ['more than 16 KiB', { certificate: 'x'.repeat(16_385) }, 'certificate'],
    ['a number', { certificate: 5 }, 'certificate'],
    ['no hex', { serial_number: 'xyz' }, 'serial_number'],
    ['an empty serial number', { serial_number: '' }, 'serial_number'],
    ['a serial number of 65 digits', { serial_number: '1'.repeat(65) }, 'serial_number'],
    ['a serial number as number', { serial_number: 12 }, 'serial_number'],
    ['a negative one', { serial_number: '-12' }, 'serial_number'],
  ])('%s', async (_what, input, path) => {
    const reply = await server.post('/certs/validate/', input);
    expectFailure(reply, 'invalid_request');
    expect(reply.body.details.map((detail: { path: string }) => detail.path)).toContain(path);
  });

  it('DER, which no JSON can carry', async () => {
    const { certificate } = await issue(server);
    const [read] = certificatesIn(certificate.pem);
    for (const encoding of ['latin1', 'base64'] as const) {
      const reply = await server.post('/certs/validate/', { certificate: read!.raw.toString(encoding) });
      expectFailure(reply, 'invalid_request');
    }
  });
});

/** What would have OpenSSL ask for a passphrase at the terminal. */
function encrypted(): string {
  const head = 'Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,000102030405060708090A0B0C0D0E0F\n\n';
  return `-----BEGIN CERTIFICATE-----\n${head}${Buffer.alloc(64).toString('base64')}\n-----END CERTIFICATE-----\n`;
}
