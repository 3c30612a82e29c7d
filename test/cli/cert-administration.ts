// What `cert` does; the files are for OpenSSL, and what it says of them is the last word.
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type {
  AuthorityObject,
  CertificateObject,
} from '#server/features/certificates/certificate-contract.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { makeForeignAuthority } from '../certificates/foreign-authority.ts';
import { certificatesIn, REQUEST } from '../certificates/issuing.ts';
import { fileOf, openssl, verifyErrors } from '../certificates/openssl.ts';
import { asCommand } from '../helpers/as-command.ts';
import { type Cli, runCli } from '../helpers/cli.ts';
import { writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { type ServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const DAY_MS = 86_400_000;
const UNKNOWN_KEY = generateLicenseKey((size) => new Uint8Array(size).fill(1));

interface Issued {
  ok?: true;
  certificate: CertificateObject;
  ca_certificate: string;
  download_token?: string | undefined;
  download_url?: string | undefined;
  file?: string;
}

interface List {
  crl: string;
  crl_number: number;
  revoked: { serial_number: string; reason: string }[];
}

interface SuiteContext {
  cli: Cli;
  dataDir: string;
  /** The server that runs all the while, if one does. */
  server(): ServerProcess | undefined;
}

export function describeCertAdministration({ cli, dataDir, server }: SuiteContext): void {
  const folder = temporaryDirectory('certificates');
  const csrFile = join(folder, 'client.csr');
  writeFileSync(csrFile, REQUEST.csr);

  async function newLicense(): Promise<LicenseRecord> {
    const { license } = await asCommand(dataDir, (admin) => admin.createLicense({ holder: 'Acme' }));
    return license;
  }

  /** A certificate for a signing request. */
  async function newCertificate(license?: LicenseRecord): Promise<Issued> {
    const { license_id } = license ?? (await newLicense());
    const input = { license_id, common_name: 'Pracoviště 1', csr: REQUEST.csr };
    return asCommand(dataDir, (admin) => admin.generateCertificate(input));
  }

  async function revoke({ certificate: { id } }: Issued): Promise<void> {
    await asCommand(dataDir, (admin) => admin.revokeCertificate({ id }));
  }

  async function issue(...words: string[]): Promise<Issued> {
    const { license_key } = await newLicense();
    const names = ['--license', license_key, '--common-name', 'Pracoviště 1'];
    return cli.ok<Issued>('cert', 'issue', ...names, ...words);
  }

  async function listErrors({ certificate, ca_certificate }: Issued): Promise<number[]> {
    // The server answers 503 if it takes more than six seconds to build the first one.
    const { crl } = await eventually(() => asCommand(dataDir, (admin) => admin.revocationList({})));
    const files = ['-CAfile', fileOf(ca_certificate), '-CRLfile', fileOf(crl), fileOf(certificate.pem)];
    return verifyErrors(['-purpose', 'sslclient', '-crl_check', ...files], Date.now());
  }

  describe('cert', () => {
    test('issue makes a key, which the link fetches once', async () => {
      const { license_id } = await newLicense();
      const names = [
        '--license',
        String(license_id),
        '--common-name',
        'Jiří',
        '--organization',
        'Büro, Nord',
      ];
      const words = [...names, '--email', 'j@example.org', '--days', '30', '--key-size', '3072'];
      const { ok: _ok, ...issued } = await cli.ok<Issued>('cert', 'issue', ...words);
      expect(issued).toEqual({
        certificate: expect.any(Object) as object,
        ca_certificate: expect.stringMatching(/^-----BEGIN CERTIFICATE-----\n/u) as string,
        download_token: expect.stringMatching(/^ldd_[\w-]{43}$/u) as string,
        download_url: expect.stringContaining(
          `/certs/download-key/?token=${issued.download_token}`,
        ) as string,
        download_expires_at: expect.any(String) as string,
      });
      expect(issued.certificate).toMatchObject({
        license_id,
        common_name: 'Jiří',
        subject: String.raw`CN=Jiří,emailAddress=j@example.org,O=Büro\, Nord`,
        status: 'good',
      });
      const { publicKey, validFrom, validTo } = new X509Certificate(issued.certificate.pem);
      expect(publicKey.asymmetricKeyDetails?.modulusLength).toBe(3072);
      expect(Math.round((Date.parse(validTo) - Date.parse(validFrom)) / DAY_MS)).toBe(30);
      const running = server();
      if (!running) return;
      const response = await fetch(issued.download_url!);
      const { private_key } = (await response.json()) as { private_key: string };
      const key = createPrivateKey(private_key);
      expect(new X509Certificate(issued.certificate.pem).checkPrivateKey(key)).toBe(true);
      expect((await fetch(issued.download_url!)).status).toBe(404);
    });

    test('issue takes the key of a signing request, from a file or stdin', async () => {
      const fromFile = await issue('--csr', csrFile);
      expect(Object.keys(fromFile)).toEqual(['ok', 'certificate', 'ca_certificate']);
      const own = new X509Certificate(fromFile.certificate.pem);
      expect(own.checkPrivateKey(REQUEST.privateKey)).toBe(true);
      expect(await listErrors(fromFile)).toEqual([]);

      const { license_key } = await newLicense();
      const words = ['cert', 'issue', '--license', license_key, '--common-name', 'X', '--csr', '-', '--json'];
      const result = await runCli([...words, '--data-dir', dataDir], { input: REQUEST.csr });
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      const { certificate } = JSON.parse(result.stdout) as Issued;
      expect(new X509Certificate(certificate.pem).checkPrivateKey(REQUEST.privateKey)).toBe(true);
    });

    test('issue writes key and certificates to a file that only its owner can read', async () => {
      const out = join(folder, 'client.pem');
      const { ok: _ok, ...issued } = await issue('--out', out);
      expect(issued).toEqual({
        certificate: expect.any(Object) as object,
        ca_certificate: expect.any(String) as string,
        file: out,
      });
      expect(statSync(out).mode & 0o777).toBe(0o600);
      const content = readFileSync(out, 'utf8');
      expect(content.endsWith(issued.certificate.pem + issued.ca_certificate)).toBe(true);
      const [own] = certificatesIn(content);
      expect(own!.checkPrivateKey(createPrivateKey(content))).toBe(true);
      openssl(['verify', '-CAfile', out, '-purpose', 'sslclient', out]);

      const withRequest = join(folder, 'request.pem');
      const requested = await issue('--csr', csrFile, '--out', withRequest);
      expect(readFileSync(withRequest, 'utf8')).toBe(requested.certificate.pem + requested.ca_certificate);
    });

    test('issue overwrites no file, and leaves none behind when it fails', async () => {
      const there = join(folder, 'there.pem');
      writeFileSync(there, 'mine');
      const { license_key } = await newLicense();
      const words = ['cert', 'issue', '--license', license_key, '--common-name', 'X', '--out'];
      const before = await cli.ok<{ items: unknown[] }>('cert', 'list', '--license', license_key);
      expect(await cli.fails(...words, there)).toMatchObject({
        error_code: 'invalid_request',
        message: `cannot write ${there}: the file already exists`,
      });
      expect(readFileSync(there, 'utf8')).toBe('mine');
      await cli.fails(...words, join(folder, 'none', 'file.pem'));
      // Nothing was issued whose key nobody has.
      expect(await cli.ok('cert', 'list', '--license', license_key)).toEqual(before);

      await asCommand(dataDir, (admin) => admin.revokeLicense({ ref: license_key }));
      const out = join(folder, 'never.pem');
      expect(await cli.fails(...words, out)).toMatchObject({ error_code: 'license_revoked' });
      expect(existsSync(out)).toBe(false);
      expect(readdirSync(folder)).not.toContain('never.pem');
    });

    test('issue says what is wrong', async () => {
      const { license_key } = await newLicense();
      const words = ['cert', 'issue', '--license'];
      expect(await cli.fails(...words, UNKNOWN_KEY, '--common-name', 'X')).toMatchObject({
        error_code: 'license_not_found',
      });
      const named = [...words, license_key, '--common-name'];
      const bad = join(folder, 'bad.csr');
      writeFileSync(bad, 'hello');
      expect(await cli.fails(...named, 'X', '--csr', bad)).toMatchObject({
        error_code: 'invalid_request',
        message: 'the content of --csr: The signing request must contain a PEM certificate request.',
      });
      expect(await cli.fails(...named, 'X', '--csr', join(folder, 'none'))).toMatchObject({
        error_code: 'not_found',
      });
      await cli.refuses(...named, 'X', '--email', 'nobody');
      await cli.refuses(...named, 'X', '--key-size', '1024');
      await cli.refuses(...named, 'X', '--days', '0');
      await cli.refuses('cert', 'issue', '--license', license_key);
    });

    test('list filters and goes on page by page', async () => {
      const license = await newLicense();
      const older = await newCertificate(license);
      const newer = await newCertificate(license);
      type Listed = { items: CertificateObject[]; next_cursor: string | null };
      const words = ['cert', 'list', '--limit', '1', '--license'];
      const first = await cli.ok<Listed>(...words, license.license_key);
      expect(first.items).toEqual([newer.certificate]);
      const more = [String(license.license_id), '--cursor', first.next_cursor!];
      const second = await cli.ok<Listed>(...words, ...more);
      expect(second).toEqual({ ok: true, items: [older.certificate], next_cursor: null });
      await revoke(older);
      const revoked = ['cert', 'list', '--license', license.license_key, '--status', 'revoked'];
      expect((await cli.ok<Listed>(...revoked)).items.map(({ id }) => id)).toEqual([older.certificate.id]);
      await cli.refuses('cert', 'list', '--status', 'valid');
    });

    test('revoke takes a serial number as it is shown anywhere, and the list has it', async () => {
      const issued = await newCertificate();
      expect(await listErrors(issued)).toEqual([]);
      const { serial_number } = issued.certificate;
      const typed = serial_number.toUpperCase().match(/../gu)!.join(':');
      type Revoked = { certificate: CertificateObject };
      const first = await cli.ok<Revoked>('cert', 'revoke', typed, '--reason', 'key_compromise');
      expect(first.certificate).toMatchObject({ serial_number, status: 'revoked', reason: 'key_compromise' });
      expect(await listErrors(issued)).toEqual([23]);
      // Again changes nothing.
      expect(await cli.ok('cert', 'revoke', serial_number, '--reason', 'superseded')).toEqual(first);
      expect(await cli.fails('cert', 'revoke', 'abcdef')).toMatchObject({
        error_code: 'certificate_not_found',
      });
      await cli.refuses('cert', 'revoke', serial_number, '--reason', 'bored');
    });

    test('crl prints the list, or writes it to a file', async () => {
      const issued = await newCertificate();
      await revoke(issued);
      const { certificate } = issued;
      const out = join(folder, 'list.crl');
      const list = await cli.ok<List>('cert', 'crl', '--out', out);
      expect(list.revoked).toContainEqual(
        expect.objectContaining({ serial_number: certificate.serial_number, reason: 'unspecified' }),
      );
      expect(readFileSync(out, 'utf8')).toBe(list.crl);
      expect(await cli.prints('cert', 'crl')).toBe(list.crl);
      expect(await cli.prints('cert', 'crl', '--out', '-')).toBe(list.crl);
      const ca = join(folder, 'ca.pem');
      await cli.ok('cert', 'ca', '--out', ca);
      openssl(['crl', '-in', out, '-CAfile', ca, '-noout']);
      expect(await cli.prints('cert', 'crl', '--out', out)).toMatch(
        /^CRL \d+ written to \S+list\.crl: \d+ revoked, next update \d{4}-\d{2}-\d{2} \S+ UTC\.\n$/u,
      );
      expect(await cli.fails('cert', 'crl', '--out', join(folder, 'none', 'x'))).toMatchObject({
        message: expect.stringContaining('no such file or directory') as string,
      });
    });

    test('ca prints the authority, or writes it to a file', async () => {
      const { authority } = await cli.ok<{ authority: AuthorityObject }>('cert', 'ca');
      expect(authority.subject).toMatch(/^CN=License Desk CA [0-9a-f]{8},O=License Desk$/u);
      expect(await cli.prints('cert', 'ca')).toBe(authority.ca_certificate);
      expect(await cli.prints('cert', 'ca', '--out', '-')).toBe(authority.ca_certificate);
      const out = join(folder, 'authority.pem');
      expect(await cli.prints('cert', 'ca', '--out', out)).toMatch(
        new RegExp(
          `^Subject: +${authority.subject}\nSerial: +[0-9a-f]{32}\n[\\s\\S]+\n\nWritten to ${out}\\.\n$`,
          'u',
        ),
      );
      expect(readFileSync(out, 'utf8')).toBe(authority.ca_certificate);
    });

    test('reads as text without --json', async () => {
      const { license_key } = await newLicense();
      const names = ['--license', license_key, '--common-name', 'Čtenář'];
      const text = await cli.prints('cert', 'issue', ...names);
      expect(text).toMatch(
        /^Private key: +https?:\S+\?token=ldd_\S+\nStore it now: it is not shown again.*\n/u,
      );
      expect(text).toMatch(/\nThe link works once, for 15 minutes\.\n\nID: +\d+\nSerial: +[0-9a-f]{32}\n/u);
      expect(text).toMatch(/\nSubject: +CN=Čtenář\nStatus: +good\n/u);
      const withRequest = await cli.prints('cert', 'issue', ...names, '--csr', csrFile);
      expect(withRequest).toMatch(/^ID: +\d+\n[\s\S]+\n\n-----BEGIN CERTIFICATE-----\n[\s\S]+-----\n$/u);
      expect(withRequest).not.toContain('Private key');
      const written = await cli.prints('cert', 'issue', ...names, '--out', join(folder, 'text.pem'));
      expect(written).toMatch(/^ID: [\s\S]+\n\nWritten to \S+text\.pem\.\n$/u);
      expect(written).not.toContain('token');
      const serial = /^Serial: +(\S+)$/mu.exec(withRequest)![1]!;
      expect(await cli.prints('cert', 'list', '--license', license_key)).toMatch(
        /^ID +SERIAL +LICENSE +COMMON NAME +STATUS +NOT AFTER +REVOKED\n *\d+ +[0-9a-f]{32} +\d+ +Čtenář +good +\d{4}-\d{2}-\d{2} +–\n/u,
      );
      expect(await cli.prints('cert', 'revoke', serial)).toMatch(
        /\nStatus: +revoked\n[\s\S]+\nRevoked: +\d{4}-\d{2}-\d{2} \S+ UTC\nReason: +unspecified\n$/u,
      );
      expect(await cli.prints('cert', 'list', '--license', license_key, '--status', 'expired')).toBe(
        'No certificates.\n',
      );
    });

    test('renew-ca keeps key and name, import-ca takes both from elsewhere', async () => {
      type Shown = { authority: AuthorityObject };
      const issued = await newCertificate();
      const before = (await cli.ok<Shown>('cert', 'ca')).authority;
      const renewed = (await cli.ok<Shown>('cert', 'renew-ca')).authority;
      expect(renewed.subject).toBe(before.subject);
      expect(certificatesIn(renewed.ca_certificate)).toHaveLength(
        certificatesIn(before.ca_certificate).length + 1,
      );
      expect(await listErrors({ ...issued, ca_certificate: renewed.ca_certificate })).toEqual([]);
      expect(await cli.prints('cert', 'renew-ca')).toMatch(/^Subject: +CN=License Desk CA .+\nSerial: /u);

      const foreign = makeForeignAuthority({ subject: '/O=Acme/CN=Acme Root' });
      const words = ['cert', 'import-ca', '--certificate', foreign.certificateFile, '--key', foreign.keyFile];
      const inUse = await cli.fails(...words);
      expect(inUse).toMatchObject({ error_code: 'authority_in_use' });
      const withKey = (pem: string) => cli.fails(...words.slice(0, -1), fileOf(pem));
      const { privateKey: onOtherCurve } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
      expect(await withKey(String(onOtherCurve.export({ type: 'pkcs8', format: 'pem' })))).toMatchObject({
        error_code: 'invalid_request',
        message: 'the content of --key must be RSA of at least 2048 bits or EC P-256 (got EC P-384)',
      });
      expect(await cli.fails('cert', 'renew-ca', '--key-type', 'p-256')).toMatchObject({
        error_code: 'authority_in_use',
      });
      const { privateKey: other } = generateKeyPairSync('rsa', { modulusLength: 2048 });
      expect(await withKey(String(other.export({ type: 'pkcs8', format: 'pem' })))).toMatchObject({
        error_code: 'invalid_request',
        message: 'the content of --key does not belong to the certificate',
      });

      // As if each had been revoked by a separate command.
      await writeRows(dataDir, `UPDATE certificates SET revoked_at = 1, revoke_reason = 'superseded'`);
      expect(await cli.prints('cert', 'renew-ca', '--key-type', 'p-256')).toMatch(/\nKey: +p-256\n$/u);
      expect(await cli.prints(...words)).toMatch(/^Subject: +CN=Acme Root,O=Acme\nSerial: /u);
      const under = await issue('--csr', csrFile);
      expect(under.ca_certificate).toBe(foreign.certificate);
      expect(await listErrors(under)).toEqual([]);
    });
  });
}
