import { X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { buildClientCertificate } from '#server/features/certificates/certificate-builder.ts';
import {
  COMMON_NAME_MAX,
  EMAIL_MAX,
  formatSubject,
  oneLine,
  ORGANIZATION_MAX,
  type SubjectNames,
} from '#server/features/certificates/distinguished-name.ts';
import { toPem } from '#server/features/certificates/pem.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { certificateFile, leafOf, makeAuthority, openssl, rsaKeys, verifyErrors } from './openssl.ts';

const authority = makeAuthority();
const { publicKey } = rsaKeys();
const certify = (names: SubjectNames) => buildClientCertificate({ ...leafOf(authority, publicKey), names });

/** The subject in OpenSSL's words. */
function subjectOf(certificate: Buffer, nameOptions: string): string {
  return openssl(
    ['x509', '-noout', '-subject', '-nameopt', nameOptions],
    toPem('CERTIFICATE', certificate),
  ).replace(/^subject=|\n$/gu, '');
}

const NAMES: readonly [string, SubjectNames, string][] = [
  ['Czech', { commonName: 'Příliš žluťoučký kůň', organization: 'Škoda' }, 'CN=Příliš žluťoučký kůň,O=Škoda'],
  ['Chinese', { commonName: '许可证 桌面', organization: '華為' }, 'CN=许可证 桌面,O=華為'],
  ['emoji', { commonName: '🏭 👩‍🔧' }, 'CN=🏭 👩‍🔧'],
  ['quotes', { commonName: `"Best" 'Ltd'` }, String.raw`CN=\"Best\" 'Ltd'`],
  ['commas', { commonName: 'Smith, John', organization: 'A, B; C' }, String.raw`CN=Smith\, John,O=A\, B\; C`],
  ['plus', { commonName: 'C++', organization: 'a+CN=b' }, String.raw`CN=C\+\+,O=a\+CN=b`],
  ['backslash', { commonName: String.raw`DOM\user` }, String.raw`CN=DOM\\user`],
  ['a leading #', { commonName: '#1 #2' }, String.raw`CN=\#1 #2`],
  ['spaces', { commonName: '  a  b  ' }, String.raw`CN=\  a  b \ `],
  ['one space', { commonName: ' ' }, String.raw`CN=\ `],
  ['angle brackets', { commonName: 'a<b>' }, String.raw`CN=a\<b\>`],
  [
    'an email address',
    { commonName: 'Jan', organization: 'Firma', email: 'jan+x@firma.example' },
    String.raw`CN=Jan,emailAddress=jan\+x@firma.example,O=Firma`,
  ],
  [
    'the upper bounds',
    {
      commonName: '许'.repeat(COMMON_NAME_MAX),
      organization: 'ž'.repeat(ORGANIZATION_MAX),
      email: `${'a'.repeat(EMAIL_MAX - 10)}@b.example`,
    },
    `CN=${'许'.repeat(64)},emailAddress=${'a'.repeat(245)}@b.example,O=${'ž'.repeat(64)}`,
  ],
];

describe('a subject', () => {
  test.each(NAMES)('with %s comes out as it went in', (_name, names, line) => {
    const certificate = certify(names);
    expect(formatSubject(names)).toBe(line);
    expect(subjectOf(certificate, 'RFC2253,-esc_msb,utf8')).toBe(line);

    // Without any escaping, in the order of the certificate.
    const attributes = [
      ...(names.organization === undefined ? [] : [`organizationName=${names.organization}`]),
      ...(names.email === undefined ? [] : [`emailAddress=${names.email}`]),
      `commonName=${names.commonName}`,
    ];
    const lines = subjectOf(certificate, 'sep_multiline,utf8,lname').split('\n');
    expect(lines.filter((each) => each !== '').map((each) => each.replace(/^ {4}/u, ''))).toEqual(attributes);

    openssl(['asn1parse'], toPem('CERTIFICATE', certificate));
    expect(openssl(['x509', '-noout', '-text'], toPem('CERTIFICATE', certificate))).not.toMatch(
      /bad|invalid|error/iu,
    );
    const files = ['-CAfile', certificateFile(authority.certificate), certificateFile(certificate)];
    expect(verifyErrors(['-purpose', 'sslclient', ...files])).toEqual([]);
  });

  test('is UTF8String, but for the email address, which is IA5String', () => {
    const certificate = certify({ commonName: 'Jan', organization: 'Firma', email: 'jan@firma.example' });
    const shown = subjectOf(certificate, 'sname,sep_comma_plus,show_type');
    expect(shown).toBe('O=UTF8STRING:Firma,emailAddress=IA5STRING:jan@firma.example,CN=UTF8STRING:Jan');
  });

  test('is the same in OpenSSL and Node for any names', () => {
    const name = (maxLength: number) =>
      fc
        .oneof(
          fc.string({ unit: anyCharacter, minLength: 1, maxLength }),
          fc.string({ unit: fc.constantFrom(...' #",+;<>\\=aé许🏭'), minLength: 1, maxLength }),
        )
        .map((text) => text.replaceAll(/[\u0000-\u001f\u007f]/gu, '-'))
        // OpenSSL forgets to escape this where it stands alone; RFC 4514 makes no exception.
        .filter((text) => text !== '#');
    const names = fc.record(
      { commonName: name(COMMON_NAME_MAX), organization: name(ORGANIZATION_MAX), email: fc.emailAddress() },
      { requiredKeys: ['commonName'] },
    );
    fc.assert(
      fc.property(names, (each) => {
        const certificate = certify(each);
        expect(subjectOf(certificate, 'RFC2253,-esc_msb,utf8')).toBe(formatSubject(each));
        const read = new X509Certificate(certificate);
        expect(oneLine(read.subject)).toBe(formatSubject(each));
        const { subject } = read.toLegacyObject();
        expect(subject).toEqual(
          Object.assign(Object.create(null), {
            CN: each.commonName,
            ...(each.organization === undefined ? {} : { O: each.organization }),
            ...(each.email === undefined ? {} : { emailAddress: each.email }),
          }),
        );
      }),
      { numRuns: 60 },
    );
  });

  test('that is a single # is escaped as in RFC 4514', () => {
    expect(formatSubject({ commonName: '#' })).toBe(String.raw`CN=\#`);
  });

  test('with an email address beyond ASCII is refused rather than garbled', () => {
    expect(() => certify({ commonName: 'Jan', email: 'ján@firma.example' })).toThrow(RangeError);
    expect(() => certify({ commonName: 'Jan', email: 'jan@许.example' })).toThrow(RangeError);
  });
});
