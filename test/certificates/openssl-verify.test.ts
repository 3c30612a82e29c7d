// What OpenSSL and Python make of certificates and lists as the API hands them out.
import { execFileSync, spawnSync } from 'node:child_process';
import { createPublicKey } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildServerCertificate } from '#server/features/certificates/certificate-builder.ts';
import { newSerial } from '#server/features/certificates/issuer.ts';
import { toPem } from '#server/features/certificates/pem.ts';
import { success } from '../helpers/contract-calls.ts';
import { listAs } from '../helpers/crl.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { clientErrors, issue, issueWithKey, REQUEST } from './issuing.ts';
import { authoritysIssuer } from './authoritys-key.ts';
import { fileOf, openssl } from './openssl.ts';

const DAY_MS = 86_400_000;
const START = Math.floor(Date.now() / 1000) * 1000;
/** What `openssl verify` calls it. */
const EXPIRED = 10;
const REVOKED = 23;
const WRONG_PURPOSE = 26;
const clock = createTestClock(START);
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());
beforeEach(() => clock.set(START));

async function errorsOf(
  { certificate, ca_certificate }: { certificate: { pem: string }; ca_certificate: string },
  more: { at?: number; purpose?: 'sslclient' | 'sslserver' } = {},
): Promise<number[]> {
  const list = await listAs(server, 'pem');
  return clientErrors({ authority: ca_certificate, certificate: certificate.pem, list, at: START, ...more });
}

describe('openssl verify', () => {
  it('takes a certificate that was just issued, and refuses it once it is revoked', async () => {
    const issued = await issueWithKey(server, {
      common_name: 'Jiří "Lab" 王, s.r.o.',
      organization: 'Büro <Nord>',
      email: 'j@example.org',
    });
    expect(await errorsOf(issued)).toEqual([]);
    await server.admin.revokeCertificate({ id: issued.certificate.id, reason: 'key_compromise' });
    expect(await errorsOf(issued)).toEqual([REVOKED]);
    expect(await errorsOf(await issue(server))).toEqual([]);
  });

  it('takes one for the key of a signing request, to the second before it ends', async () => {
    const issued = await issue(server, { validity_days: 2 });
    const end = Date.parse(issued.certificate.not_after);
    expect(await errorsOf(issued)).toEqual([]);
    expect(await errorsOf(issued, { at: end - 1000 })).toEqual([]);
    // The last second itself, which belongs to the term (RFC 5280, 4.1.2.5), OpenSSL takes away from it.
    expect(await errorsOf(issued, { at: end + 1000 })).toEqual([EXPIRED]);
    expect(await errorsOf(issued, { purpose: 'sslserver' })).toEqual([WRONG_PURPOSE]);
  });

  it('does not take that of a server for a client’s', async () => {
    const { authority } = await server.admin.showAuthority({});
    const der = buildServerCertificate({
      issuer: await authoritysIssuer(server.dataDir),
      serial: newSerial(),
      notBefore: START,
      notAfter: START + DAY_MS,
      publicKey: createPublicKey(REQUEST.privateKey),
      commonName: 'localhost',
      hosts: ['localhost'],
    });
    const issued = {
      certificate: { pem: toPem('CERTIFICATE', der) },
      ca_certificate: authority.ca_certificate,
    };
    expect(await errorsOf(issued)).toEqual([WRONG_PURPOSE]);
    expect(await errorsOf(issued, { purpose: 'sslserver' })).toEqual([]);
  });

  it('takes the authority itself as one of the strictest kind', async () => {
    const { authority } = await server.admin.showAuthority({});
    const file = fileOf(authority.ca_certificate);
    openssl(['verify', '-x509_strict', '-check_ss_sig', '-policy_check', '-CAfile', file, file]);
    openssl(['asn1parse'], authority.ca_certificate);
  });
});

describe('openssl crl', () => {
  it('shows number, dates, reasons and signature as the API does', async () => {
    for (const reason of ['unspecified', 'key_compromise', 'privilege_withdrawn'] as const) {
      const { certificate } = await issue(server);
      await server.admin.revokeCertificate({ id: certificate.id, reason });
    }
    const list = await success(server, 'revocationList', {});
    const { authority } = await server.admin.showAuthority({});
    const words = [
      'crl',
      '-noout',
      '-CAfile',
      fileOf(authority.ca_certificate),
      '-in',
      fileOf(list.crl as string),
    ];
    const { stderr, stdout } = spawnSync(
      'openssl',
      [...words, '-text', '-crlnumber', '-lastupdate', '-nextupdate', '-dateopt', 'iso_8601'],
      { encoding: 'utf8' },
    );
    expect(stderr.trim()).toBe('verify OK');
    const hex = (list.crl_number as number).toString(16).toUpperCase();
    expect(stdout).toContain(`crlNumber=0x${hex.length % 2 === 0 ? hex : `0${hex}`}\n`);
    const shown = (moment: string) => moment.replace('T', ' ').replace('.000', '');
    expect(stdout).toContain(`lastUpdate=${shown(list.this_update as string)}\n`);
    expect(stdout).toContain(`nextUpdate=${shown(list.next_update as string)}\n`);
    const reasons = [...stdout.matchAll(/CRL Reason Code: \n +(.+)/gu)].map(([, reason]) => reason);
    expect(reasons).toEqual(expect.arrayContaining(['Key Compromise', 'Privilege Withdrawn']));
    expect(reasons).not.toContain('Unspecified');
    expect(stdout.match(/Serial Number: /gu)).toHaveLength(list.revoked.length as number);
  });
});

const PYTHON = '/usr/bin/python3';
const SCRIPT = `
import json, sys
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import padding
def read(name):
    with open(name, 'rb') as file: return file.read()
crl = x509.load_der_x509_crl(read(sys.argv[1]))
authority = x509.load_pem_x509_certificate(read(sys.argv[2]))
leaf = x509.load_pem_x509_certificate(read(sys.argv[3]))
authority.public_key().verify(leaf.signature, leaf.tbs_certificate_bytes, padding.PKCS1v15(), leaf.signature_hash_algorithm)
reasons = {}
for entry in crl:
    flags = [extension.value.reason.name for extension in entry.extensions]
    reasons[format(entry.serial_number, 'x')] = flags[0] if flags else 'unspecified'
print(json.dumps({
    'count': len(crl), 'signed': crl.is_signature_valid(authority.public_key()), 'reasons': reasons,
    'number': crl.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number,
    'next': crl.next_update.isoformat(),
    'issued_by_authority': crl.issuer == authority.subject and leaf.issuer == authority.subject,
    'name': leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)[0].value,
    'serial': format(leaf.serial_number, 'x'),
    'extensions': sorted(extension.oid._name for extension in leaf.extensions),
}))`;

function whyNoPython(): string {
  const { status } = spawnSync(PYTHON, ['-c', 'import cryptography'], { stdio: 'ignore' });
  return status === 0 ? '' : ' (skipped: Debian package python3-cryptography is not installed)';
}
const why = whyNoPython();

describe.skipIf(why !== '')(`Python's cryptography${why}`, () => {
  it('reads the same list and the same certificate', async () => {
    const { certificate, ca_certificate } = await issue(server, { common_name: 'Žofie 王' });
    await server.admin.revokeCertificate({ id: certificate.id, reason: 'cessation_of_operation' });
    const list = await success(server, 'revocationList', {});
    const der = await listAs(server, 'der');
    const files = [fileOf(der), fileOf(ca_certificate), fileOf(certificate.pem)];
    const read = JSON.parse(execFileSync(PYTHON, ['-c', SCRIPT, ...files], { encoding: 'utf8' })) as object;
    const revoked = list.revoked as { serial_number: string; reason: string }[];
    expect(read).toEqual({
      count: revoked.length,
      signed: true,
      reasons: Object.fromEntries(revoked.map(({ serial_number, reason }) => [serial_number, reason])),
      number: list.crl_number,
      next: (list.next_update as string).replace('.000Z', ''),
      issued_by_authority: true,
      name: 'Žofie 王',
      serial: certificate.serial_number,
      extensions: [
        'authorityKeyIdentifier',
        'basicConstraints',
        'cRLDistributionPoints',
        'extendedKeyUsage',
        'keyUsage',
        'subjectKeyIdentifier',
      ],
    });
  });
});
