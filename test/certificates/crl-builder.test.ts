import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REVOCATION_REASONS } from '#server/features/certificates/certificate-state-contract.ts';
import {
  buildRevocationList,
  encodeRevokedEntry,
  entriesOf,
} from '#server/features/certificates/crl-builder.ts';
import { openElement, readElements } from '#server/features/certificates/der.ts';
import { newSerial } from '#server/features/certificates/issuer.ts';
import { toPem } from '#server/features/certificates/pem.ts';
import { certificateFile, fileOf, listFile, makeAuthority, NOW, openssl } from './openssl.ts';
import { roundsOr } from '../helpers/long-lane.ts';

const DAY = 86_400_000;
const authority = makeAuthority();
const build = (entries: readonly Buffer[], changes: object = {}) =>
  buildRevocationList({
    issuer: authority.issuer,
    number: 4711,
    thisUpdate: NOW,
    nextUpdate: NOW + 7 * DAY,
    entries: Buffer.concat(entries),
    ...changes,
  });
const show = (list: Buffer, ...options: string[]) => openssl(['crl', ...options], toPem('X509 CRL', list));
const newEntries = (count: number) =>
  Array.from({ length: count }, () =>
    encodeRevokedEntry({ serial: newSerial(), revokedAt: NOW - DAY, reason: 'key_compromise' }),
  );

/** Whether the authority has signed the list, by `openssl crl`. */
function isVerified(list: Buffer, certificate = authority.certificate): boolean {
  const args = ['crl', '-noout', '-CAfile', certificateFile(certificate), '-in', listFile(list)];
  const { stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
  return stderr.trim() === 'verify OK';
}

/** Serial number in hex, date and reason of each entry. */
function revokedIn(list: Buffer): (string | undefined)[][] {
  const [, ...entries] = show(list, '-noout', '-text').split(/^ {4}Serial Number: /mu);
  return entries.map((entry) => [
    /^[\dA-F]+/u.exec(entry)?.[0].toLowerCase(),
    /Revocation Date: (.+)/u.exec(entry)?.[1],
    /Reason Code: *\n *(.+)/u.exec(entry)?.[1],
  ]);
}

describe('a revocation list', () => {
  test('is of version 2, signed, with number, dates and the identifier of its authority', () => {
    const list = build(newEntries(1));
    expect(isVerified(list)).toBe(true);
    expect(isVerified(list, makeAuthority().certificate)).toBe(false);
    expect(show(list, '-noout', '-crlnumber', '-lastupdate', '-nextupdate').split('\n')).toEqual([
      'crlNumber=0x1267',
      'lastUpdate=Jun 15 12:00:00 2026 GMT',
      'nextUpdate=Jun 22 12:00:00 2026 GMT',
      '',
    ]);
    const identifier = authority.issuer.keyIdentifier.toString('hex').toUpperCase().match(/../gu)?.join(':');
    const text = show(list, '-noout', '-text');
    expect(text).toContain('Version 2 (0x1)');
    expect(text).toContain('Signature Algorithm: sha256WithRSAEncryption');
    expect(text.split('CRL extensions:')[1]).toMatch(
      new RegExp(
        `^\\s+X509v3 Authority Key Identifier: \\n +${identifier}\\n +X509v3 CRL Number: \\n +4711\\n`,
        'u',
      ),
    );
    expect(list.includes(authority.issuer.subject)).toBe(true);
    openssl(['asn1parse', '-inform', 'DER'], list);
  });

  test('without entries omits the list of entries', () => {
    const list = build([]);
    expect(isVerified(list)).toBe(true);
    expect(show(list, '-noout', '-text')).toContain('No Revoked Certificates.');
    const [content] = openElement(readElements(list)[0], 0x30);
    expect(openElement(content, 0x30).map(({ tag }) => tag)).toEqual([0x02, 0x30, 0x30, 0x17, 0x17, 0xa0]);
  });

  test.each([0, 1, 300])('gives back its %i entries', (count) => {
    const entries = newEntries(count);
    expect(entriesOf(build(entries))).toEqual(Buffer.concat(entries));
  });

  test('that is altered is noticed', () => {
    const list = build(newEntries(2));
    const at = list.indexOf(Buffer.from('260614120000Z'));
    list[at + 5] = 0x33;
    expect(isVerified(list)).toBe(false);
  });

  test('has the reason, and omits unspecified', () => {
    const serials = REVOCATION_REASONS.map(() => newSerial());
    const entries = REVOCATION_REASONS.map((reason, at) =>
      encodeRevokedEntry({ serial: serials[at]!, revokedAt: NOW + at * 1000 + 999, reason }),
    );
    const reasons = [
      undefined,
      'Key Compromise',
      'Affiliation Changed',
      'Superseded',
      'Cessation Of Operation',
      'Privilege Withdrawn',
    ];
    expect(revokedIn(build(entries))).toEqual(
      reasons.map((reason, at) => [serials[at]!.toString('hex'), `Jun 15 12:00:0${at} 2026 GMT`, reason]),
    );
  });

  test('takes serial numbers of any kind as positive', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 20 }), (serial) => {
        const [element] = readElements(
          encodeRevokedEntry({ serial: Buffer.from(serial), revokedAt: NOW, reason: 'superseded' }),
        );
        const [integer] = openElement(element, 0x30);
        expect(integer!.content[0]).toBeLessThan(0x80);
        expect(BigInt(`0x${integer!.content.toString('hex')}`)).toBe(
          BigInt(`0x${Buffer.from(serial).toString('hex')}`),
        );
      }),
    );
    const serials = ['ff', '80', '01', 'ffffffffffffffffffffffffffffffffffffff'];
    const entries = serials.map((hex) =>
      encodeRevokedEntry({ serial: Buffer.from(hex, 'hex'), revokedAt: NOW, reason: 'unspecified' }),
    );
    expect(revokedIn(build(entries)).map(([serial]) => serial)).toEqual(serials);
  });

  test.each([
    [0, '0'],
    [127, '127'],
    [128, '128'],
    [65_535, '65535'],
    [1_790_000_000, '1790000000'],
    [2 ** 32, '4294967296'],
    [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ])('may have the number %d', (number, shown) => {
    const hex = /^crlNumber=(0x[\dA-F]+)/u.exec(show(build([], { number }), '-noout', '-crlnumber'))?.[1];
    expect(BigInt(hex ?? -1).toString()).toBe(shown);
  });

  test.each([-1, 1.5, Number.MAX_SAFE_INTEGER + 1, Number.NaN])('has not the number %d', (number) => {
    expect(() => build([], { number })).toThrow(RangeError);
  });

  test('may reach beyond 2049', () => {
    const [thisUpdate, nextUpdate] = [Date.UTC(2049, 11, 31), Date.UTC(2050, 0, 7)];
    const list = build([], { thisUpdate, nextUpdate });
    expect(show(list, '-noout', '-lastupdate', '-nextupdate')).toBe(
      'lastUpdate=Dec 31 00:00:00 2049 GMT\nnextUpdate=Jan  7 00:00:00 2050 GMT\n',
    );
    expect(openssl(['asn1parse', '-inform', 'DER'], list)).toMatch(
      /UTCTIME +:491231000000Z\n.*GENERALIZEDTIME +:20500107000000Z\n/u,
    );
  });
});

const COUNT = roundsOr(10_000);

describe(`a list of ${COUNT}`, () => {
  // One call for all serial numbers, not one for each.
  const random = randomBytes(COUNT * 16);
  const entries = Array.from({ length: COUNT }, (_, at) =>
    encodeRevokedEntry({
      serial: random.subarray(at * 16, at * 16 + 16),
      revokedAt: NOW - at,
      reason: REVOCATION_REASONS[at % REVOCATION_REASONS.length]!,
    }),
  );

  test('is verified and counted right by OpenSSL', () => {
    const list = build(entries);
    expect(isVerified(list)).toBe(true);
    expect(show(list, '-noout', '-text').match(/^ {4}Serial Number: /gmu)?.length).toBe(COUNT);
  });

  const hasCryptography = spawnSync('python3', ['-c', 'import cryptography']).status === 0;
  test.skipIf(!hasCryptography)('is counted right by Python, if it has the cryptography package', () => {
    const program = `
import sys
from cryptography import x509
crl = x509.load_der_x509_crl(open(sys.argv[1], "rb").read())
authority = x509.load_pem_x509_certificate(open(sys.argv[2], "rb").read())
wanted = [x509.ReasonFlags.key_compromise, x509.ReasonFlags.affiliation_changed, x509.ReasonFlags.superseded,
          x509.ReasonFlags.cessation_of_operation, x509.ReasonFlags.privilege_withdrawn]
found = []
for entry in crl:
    found.extend(extension.value.reason for extension in entry.extensions)
print(len(crl), crl.is_signature_valid(authority.public_key()), crl.issuer == authority.subject)
print(sum(found.count(reason) for reason in wanted), all(found.count(reason) > 0 for reason in wanted))
print(crl.extensions.get_extension_for_class(x509.CRLNumber).value.crl_number)
print(crl.get_revoked_certificate_by_serial_number(int(sys.argv[3], 16)) is not None)
`;
    const last = random.subarray(-16).toString('hex');
    const files = [fileOf(build(entries)), certificateFile(authority.certificate)];
    const answer = execFileSync('python3', ['-c', program, ...files, last], { encoding: 'utf8' });
    const withReason = entries.length - Math.ceil(COUNT / REVOCATION_REASONS.length);
    expect(answer.trim().split('\n')).toEqual([`${COUNT} True True`, `${withReason} True`, '4711', 'True']);
  });
});
