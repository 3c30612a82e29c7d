// An authority of somebody else's making: what is issued under it holds for OpenSSL.
import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTestClock } from '../helpers/test-clock.ts';
import { type Desk, openDesk } from './desk.ts';
import { AUTHORITY_EXTENSIONS, type ForeignAuthority, makeForeignAuthority } from './foreign-authority.ts';
import { certificatesIn, clientErrors, issue } from './issuing.ts';
import { fileOf, openssl } from './openssl.ts';

const DAY_MS = 86_400_000;
/** A day ahead, because OpenSSL dates what it makes during the tests by the real clock. */
const START = Math.floor(Date.now() / 1000) * 1000 + DAY_MS;
const SUBJECT = '/C=CZ/O=Acme a.s./CN=Acme Root';
let root: ForeignAuthority;
let intermediate: ForeignAuthority;

beforeAll(() => {
  root = makeForeignAuthority({ subject: SUBJECT });
  intermediate = makeForeignAuthority({
    subject: '/C=CZ/O=Acme a.s./CN=Acme Issuing 1',
    signer: root,
    days: 365,
    extensions: [
      'basicConstraints=critical,CA:TRUE,pathlen:0',
      ...AUTHORITY_EXTENSIONS.slice(1),
      'authorityKeyIdentifier=keyid',
    ],
  });
});

const bring = ({ admin }: Desk, { certificate, key }: Pick<ForeignAuthority, 'certificate' | 'key'>) =>
  admin.importAuthority({ certificate, private_key: key });

async function errorsOf({ admin }: Desk, pem: string, authority: string, at: number): Promise<number[]> {
  const { crl } = await admin.revocationList({});
  return clientErrors({ authority, certificate: pem, list: Buffer.from(crl), at });
}

describe('an imported authority', () => {
  it('issues from then on, with the name encoded as in its certificate', async () => {
    const desk = await openDesk(createTestClock(START));
    const { authority } = await bring(desk, root);
    const [read] = certificatesIn(root.certificate);
    expect(authority).toEqual({
      subject: 'CN=Acme Root,O=Acme a.s.,C=CZ',
      serial_number: read!.serialNumber.toLowerCase(),
      not_before: new Date(read!.validFrom).toISOString(),
      not_after: new Date(read!.validTo).toISOString(),
      fingerprint_sha256: read!.fingerprint256.replaceAll(':', '').toLowerCase(),
      key_type: 'rsa-2048',
      ca_certificate: root.certificate,
    });
    const { certificate, ca_certificate } = await issue(desk);
    expect(ca_certificate).toBe(root.certificate);
    expect(await errorsOf(desk, certificate.pem, root.certificate, START)).toEqual([]);
    expect(openssl(['asn1parse'], certificate.pem)).toMatch(/PRINTABLESTRING +:Acme Root/u);
    await desk.admin.revokeCertificate({ id: certificate.id });
    expect(await errorsOf(desk, certificate.pem, root.certificate, START)).toEqual([23]);
    const { crl } = await desk.admin.revocationList({});
    expect(openssl(['asn1parse'], crl)).toMatch(/PRINTABLESTRING +:Acme Root/u);
    const { items } = await desk.admin.listAudit({});
    const entry = items.find(({ action }) => action === 'authority.imported');
    expect(entry).toMatchObject({ actor_kind: 'cli', before: null });
    expect(JSON.stringify(items)).not.toMatch(/PRIVATE KEY|BEGIN/u);
  });

  it('may stand under another, whose certificate is handed out with its own', async () => {
    const desk = await openDesk(createTestClock(START));
    const chain = `Issuing:\n${intermediate.certificate}\nRoot:\n${root.certificate}`;
    const { authority } = await bring(desk, { certificate: chain, key: intermediate.key });
    expect(authority.subject).toBe('CN=Acme Issuing 1,O=Acme a.s.,C=CZ');
    const { certificate, ca_certificate } = await issue(desk, { validity_days: 1000 });
    expect(ca_certificate).toBe(intermediate.certificate + root.certificate);
    // Not beyond its own authority, which ends long before the root.
    expect(certificate.not_after).toBe(authority.not_after);
    expect(await errorsOf(desk, certificate.pem, ca_certificate, START)).toEqual([]);
    const at = ['-attime', String(START / 1000)];
    const words = [
      'verify',
      '-x509_strict',
      ...at,
      '-purpose',
      'sslclient',
      '-CAfile',
      fileOf(root.certificate),
    ];
    openssl([...words, '-untrusted', fileOf(intermediate.certificate), fileOf(certificate.pem)]);
    expect(spawnSync('openssl', [...words, fileOf(certificate.pem)]).status).not.toBe(0);
    expect(await desk.admin.validateCertificate({ certificate: certificate.pem })).toMatchObject({
      valid: true,
    });
    await desk.admin.revokeCertificate({ id: certificate.id });
    expect(await errorsOf(desk, certificate.pem, ca_certificate, START)).toEqual([23]);
  });

  it('has its list at once, though the one before had nothing to be made anew for', async () => {
    const desk = await openDesk(createTestClock(START));
    await desk.admin.revocationList({});
    await bring(desk, root);
    const { crl } = await desk.admin.revocationList({});
    const issuer = openssl(['crl', '-noout', '-issuer', '-nameopt', 'RFC2253'], crl);
    expect(issuer).toBe('issuer=CN=Acme Root,O=Acme a.s.,C=CZ\n');
  });

  it('does not issue after it expires, and is not renewed here', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    const chain = intermediate.certificate + root.certificate;
    await bring(desk, { certificate: chain, key: intermediate.key });
    await expect(desk.admin.renewAuthority({})).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('imported') as string,
    });
    clock.advance(366 * DAY_MS);
    await expect(issue(desk)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    // The same key with a new certificate of the same name.
    const renewed = makeForeignAuthority({
      subject: '/C=CZ/O=Acme a.s./CN=Acme Issuing 1',
      signer: root,
      days: 730,
      keyFile: intermediate.keyFile,
    });
    await bring(desk, { certificate: renewed.certificate + root.certificate, key: renewed.key });
    expect((await issue(desk)).ca_certificate).toBe(renewed.certificate + root.certificate);
  });

  it('does not certify its own key, with any kind of key identifier', async () => {
    for (const identifier of ['hash', '0102030405']) {
      const desk = await openDesk(createTestClock(START));
      const own = makeForeignAuthority({
        subject: SUBJECT,
        keyFile: root.keyFile,
        extensions: [...AUTHORITY_EXTENSIONS.slice(0, 2), `subjectKeyIdentifier=${identifier}`],
      });
      await bring(desk, own);
      const csr = openssl(['req', '-new', '-key', root.keyFile, '-subj', '/CN=x']);
      await expect(issue(desk, { csr })).rejects.toMatchObject({
        code: 'invalid_request',
        message: "csr: its key must not be the authority's key",
        details: [{ path: 'csr', message: "its key must not be the authority's key" }],
      });
      const { certificate, ca_certificate } = await issue(desk);
      expect(await errorsOf(desk, certificate.pem, ca_certificate, START)).toEqual([]);
    }
  });
});

describe('valid certificates', () => {
  it('keep another authority out, until they are revoked or over', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    const [one, other] = [await issue(desk, { validity_days: 10 }), await issue(desk, { validity_days: 20 })];
    const inUse = (count: number) => ({
      code: 'authority_in_use',
      status: 409,
      message: expect.stringContaining(`still valid (${count});`) as string,
    });
    await expect(bring(desk, root)).rejects.toMatchObject(inUse(2));
    await desk.admin.revokeCertificate({ id: other.certificate.id });
    await expect(bring(desk, root)).rejects.toMatchObject(inUse(1));
    clock.set(Date.parse(one.certificate.not_after) + 1);
    await bring(desk, root);
    expect((await issue(desk)).ca_certificate).toBe(root.certificate);
    // What the first one signed is still known, though nothing is in force of it.
    const { status } = await desk.admin.validateCertificate({ certificate: one.certificate.pem });
    expect(status).toBe('expired');
  });

  it('do not mind a new certificate of the same authority', async () => {
    const desk = await openDesk(createTestClock(START));
    await bring(desk, root);
    const { certificate } = await issue(desk);
    const renewed = makeForeignAuthority({ subject: SUBJECT, keyFile: root.keyFile, days: 7300 });
    await bring(desk, renewed);
    const { ca_certificate, certificate: next } = await issue(desk);
    expect(ca_certificate).toBe(renewed.certificate + root.certificate);
    for (const authority of [root, renewed]) {
      for (const { pem } of [certificate, next])
        expect(await errorsOf(desk, pem, authority.certificate, START)).toEqual([]);
    }
    // The same again changes nothing that relying parties see.
    await bring(desk, renewed);
    expect((await issue(desk)).ca_certificate).toBe(renewed.certificate + root.certificate);
  });

  it('mind the same key under another name, which no list of theirs would have', async () => {
    const desk = await openDesk(createTestClock(START));
    await bring(desk, root);
    const { certificate } = await issue(desk);
    const renamed = makeForeignAuthority({ subject: '/CN=Renamed', keyFile: root.keyFile });
    await expect(bring(desk, renamed)).rejects.toMatchObject({ code: 'authority_in_use' });
    await desk.admin.revokeCertificate({ id: certificate.id });
    await bring(desk, renamed);
    const { certificate: next, ca_certificate } = await issue(desk);
    expect(await errorsOf(desk, next.pem, ca_certificate, START)).toEqual([]);
  });
});
