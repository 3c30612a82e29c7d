// An authority with a P-256 key: what OpenSSL, nginx and Node say of its certificates and lists, and how it replaces one
// with another key.
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServerCertificate } from '#server/features/certificates/certificate-builder.ts';
import { newSerial } from '#server/features/certificates/issuer.ts';
import { signStructure } from '#server/features/certificates/signed-structure.ts';
import { toPem } from '#server/features/certificates/pem.ts';
import { listAs } from '../helpers/crl.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { newReceiverFolder } from '../webhooks/foreign-receiver.ts';
import { hasNginx, startNginx } from '../webhooks/nginx.ts';
import { authoritysIssuer } from './authoritys-key.ts';
import { openDesk } from './desk.ts';
import { AUTHORITY_EXTENSIONS, makeForeignAuthority } from './foreign-authority.ts';
import { certificatesIn, clientErrors, type Issued, issue, issueWithKey, REQUEST } from './issuing.ts';
import { fileOf, openssl, verifyErrors } from './openssl.ts';
import { runUpkeep } from './upkeep.ts';

const DAY_MS = 86_400_000;
const START = Math.floor(Date.now() / 1000) * 1000;
const WRONG_PURPOSE = 26;
const REVOKED = 23;
const ECDSA = 'ecdsa-with-SHA256';
const algorithmsIn = (shown: string) =>
  new Set([...shown.matchAll(/Signature Algorithm: (\S+)/gu)].map(([, name]) => name));

describe('a P-256 authority', () => {
  let server: TestServer;
  let authority: string;

  beforeAll(async () => {
    server = await startTestServer();
    const made = await server.admin.renewAuthority({ key_type: 'p-256' });
    expect(made.authority.key_type).toBe('p-256');
    authority = made.authority.ca_certificate;
  });
  afterAll(() => server.stop());

  it('is one of the strictest kind to OpenSSL', () => {
    const file = fileOf(authority);
    openssl(['verify', '-x509_strict', '-check_ss_sig', '-policy_check', '-CAfile', file, file]);
    const shown = openssl(['x509', '-noout', '-text'], authority);
    expect(algorithmsIn(shown)).toEqual(new Set([ECDSA]));
    expect(shown).toContain('NIST CURVE: P-256');
  });

  it('issues certificates for keys of any type, and its list revokes them', async () => {
    for (const issued of [await issue(server), await issueWithKey(server)]) {
      const { certificate, ca_certificate } = issued;
      const errors = async (purpose?: 'sslserver') =>
        clientErrors({
          authority: ca_certificate,
          certificate: certificate.pem,
          list: await listAs(server, 'pem'),
          at: Date.now(),
          ...(purpose ? { purpose } : {}),
        });
      expect(ca_certificate).toBe(authority);
      expect(algorithmsIn(openssl(['x509', '-noout', '-text'], certificate.pem))).toEqual(new Set([ECDSA]));
      expect(await errors()).toEqual([]);
      expect(await errors('sslserver')).toEqual([WRONG_PURPOSE]);
      const [parent] = certificatesIn(ca_certificate);
      expect(new X509Certificate(certificate.pem).verify(parent!.publicKey)).toBe(true);
      await expect(server.admin.validateCertificate({ certificate: certificate.pem })).resolves.toMatchObject(
        { status: 'good' },
      );
      await server.admin.revokeCertificate({ id: certificate.id });
      expect(await errors()).toEqual([REVOKED]);
      await expect(server.admin.validateCertificate({ certificate: certificate.pem })).resolves.toMatchObject(
        { status: 'revoked' },
      );
    }
    const list = await listAs(server, 'der');
    const words = ['crl', '-inform', 'DER', '-noout', '-text', '-CAfile', fileOf(authority)];
    expect(algorithmsIn(openssl(words, list))).toEqual(new Set([ECDSA]));
  });

  it('signs server certificates', async () => {
    const der = buildServerCertificate({
      issuer: await authoritysIssuer(server.dataDir),
      serial: newSerial(),
      notBefore: START - DAY_MS,
      notAfter: START + DAY_MS,
      publicKey: certificatesIn((await issue(server)).certificate.pem)[0]!.publicKey,
      commonName: 'localhost',
      hosts: ['localhost'],
    });
    const files = ['-CAfile', fileOf(authority), fileOf(toPem('CERTIFICATE', der))];
    expect(verifyErrors(['-purpose', 'sslserver', ...files], START)).toEqual([]);
  });

  it.skipIf(!hasNginx())('lets clients into nginx until its list revokes them', async () => {
    const good = await issue(server);
    const revoked = await issue(server);
    await server.admin.revokeCertificate({ id: revoked.certificate.id });
    const folder = newReceiverFolder();
    const [caFile, listFile] = [join(folder, 'ca.pem'), join(folder, 'crl.pem')];
    writeFileSync(caFile, authority);
    writeFileSync(listFile, await listAs(server, 'pem'));
    const lines = [
      `ssl_client_certificate ${caFile};`,
      `ssl_crl ${listFile};`,
      'ssl_verify_client on;',
      `location = /in { return 200 '$ssl_client_verify $ssl_client_serial'; }`,
    ];
    const site = new CertificateAuthority();
    const nginx = await startNginx({ site: { identity: site.issue({}), lines } });
    const enter = (cert: string) =>
      new Promise<string>((resolve, reject) => {
        const options = { cert, key: REQUEST.key, ca: site.cert, agent: false };
        request(new URL('/in', nginx.url('site')), options, (response) => {
          text(response).then((said) => resolve(`${response.statusCode} ${said}`), reject);
        })
          .on('error', reject)
          .end();
      });
    expect(await enter(good.certificate.pem)).toBe(
      `200 SUCCESS ${good.certificate.serial_number.toUpperCase()}`,
    );
    expect(await enter(revoked.certificate.pem)).toMatch(/^400 /u);
    site.remove();
  });
});

describe('the key of an authority', () => {
  it('changes only while no certificate of the authority is valid', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    const { authority: first } = await desk.admin.showAuthority({});
    expect(first.key_type).toBe('rsa-3072');
    const { certificate } = await issue(desk, { validity_days: 10 });
    await expect(desk.admin.renewAuthority({ key_type: 'p-256' })).rejects.toMatchObject({
      code: 'authority_in_use',
      status: 409,
    });
    // The same type is an ordinary renewal.
    const { authority: renewed } = await desk.admin.renewAuthority({ key_type: 'rsa-3072' });
    expect(renewed.subject).toBe(first.subject);
    expect(certificatesIn(renewed.ca_certificate)).toHaveLength(2);

    await desk.admin.revokeCertificate({ id: certificate.id });
    const { authority: second } = await desk.admin.renewAuthority({ key_type: 'p-256' });
    expect(second.key_type).toBe('p-256');
    expect(second.subject).not.toBe(first.subject);
    expect(certificatesIn(second.ca_certificate)).toHaveLength(1);
    const { items } = await desk.admin.listAudit({});
    const entries = items.filter(({ action }) => action.startsWith('authority.'));
    expect(entries.map(({ action, actor_name }) => [action, actor_name])).toEqual([
      ['authority.made', 'tester'],
      ['authority.renewed', 'tester'],
      ['authority.made', 'certificates'],
    ]);
    expect(entries[0]).toMatchObject({ before: { key_type: 'rsa-3072' }, after: { key_type: 'p-256' } });

    clock.advance(DAY_MS);
    const { authority: again } = await desk.admin.renewAuthority({});
    expect(again).toMatchObject({ key_type: 'p-256', subject: second.subject });
    expect(certificatesIn(again.ca_certificate)).toHaveLength(2);
    const { authority: back } = await desk.admin.renewAuthority({ key_type: 'rsa-3072' });
    expect(back.key_type).toBe('rsa-3072');
  });

  it('changes together with the CRL, so that new certificates are good at once', async () => {
    const clock = createTestClock(START);
    const desk = await openDesk(clock);
    await desk.admin.revocationList({});
    await desk.admin.renewAuthority({ key_type: 'p-256' });
    const errors = async ({ certificate, ca_certificate: authority }: Issued) => {
      const { crl } = await desk.admin.revocationList({});
      return clientErrors({
        authority,
        certificate: certificate.pem,
        list: Buffer.from(crl),
        at: clock.now(),
      });
    };
    const issued = await issue(desk);
    expect(await errors(issued)).toEqual([]);

    // Maintenance that has begun before the change, and writes after it.
    await desk.admin.revokeCertificate({ id: issued.certificate.id });
    clock.advance(DAY_MS);
    let hasChanged = false;
    const { listNumber } = await runUpkeep(desk.dataDir, clock, async () => {
      if (hasChanged) return;
      hasChanged = true;
      await desk.admin.renewAuthority({ key_type: 'rsa-3072' });
    });
    expect(hasChanged).toBe(true);
    expect(listNumber).toBeNull();
    expect(await errors(await issue(desk))).toEqual([]);
  });

  it('may be that of an imported P-256 authority, which one made here can replace', async () => {
    const desk = await openDesk(createTestClock(START + DAY_MS));
    const key = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'];
    const root = makeForeignAuthority({ subject: '/CN=Acme EC Root', key, extensions: AUTHORITY_EXTENSIONS });
    const { authority } = await desk.admin.importAuthority({
      certificate: root.certificate,
      private_key: root.key,
    });
    expect(authority).toMatchObject({ key_type: 'p-256', subject: 'CN=Acme EC Root' });
    const { certificate, ca_certificate } = await issue(desk);
    const { crl } = await desk.admin.revocationList({});
    const given = { authority: ca_certificate, certificate: certificate.pem, list: Buffer.from(crl) };
    expect(clientErrors({ ...given, at: START + DAY_MS })).toEqual([]);
    await expect(desk.admin.renewAuthority({})).rejects.toMatchObject({ code: 'invalid_request' });
    await desk.admin.revokeCertificate({ id: certificate.id });
    const { authority: made } = await desk.admin.renewAuthority({ key_type: 'p-256' });
    expect(made.key_type).toBe('p-256');
    expect(made.subject).not.toContain('Acme');
  });

  it('of another curve signs nothing', () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
    expect(() => signStructure(Buffer.alloc(1), privateKey)).toThrow(TypeError);
  });
});
