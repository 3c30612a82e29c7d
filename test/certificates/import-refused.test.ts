// An authority of somebody else's making that would be of no use is refused, and the one there is stays.
import { beforeAll, describe, expect, it } from 'vitest';
import { dumpDatabase } from '../helpers/database.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { type Desk, openDesk } from './desk.ts';
import { AUTHORITY_EXTENSIONS, type ForeignAuthority, makeForeignAuthority } from './foreign-authority.ts';
import { certificatesIn } from './issuing.ts';
import { dsaKeyFile, openssl, withUnknownType } from './openssl.ts';

/** A day ahead, because OpenSSL dates what it makes during the tests by the real clock. */
const START = Math.floor(Date.now() / 1000) * 1000 + 86_400_000;
const SUBJECT = '/C=CZ/O=Acme a.s./CN=Acme Root';
let root: ForeignAuthority;
let intermediate: ForeignAuthority;

beforeAll(() => {
  root = makeForeignAuthority({ subject: SUBJECT });
  const extensions = ['basicConstraints=critical,CA:TRUE,pathlen:0', ...AUTHORITY_EXTENSIONS.slice(1)];
  intermediate = makeForeignAuthority({ subject: '/CN=Acme Issuing 1', signer: root, extensions });
});

const BITS = ['-pkeyopt', 'rsa_keygen_bits:2048'];
const onCurve = (name: string) => ['-algorithm', 'EC', '-pkeyopt', `ec_paramgen_curve:${name}`];
const derOf = (pem: string) => Buffer.from(pem.replaceAll(/-----.*-----|\s/gu, ''), 'base64');
const pemOf = (label: string, der: Buffer) =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replaceAll(/.{64}/gu, '$&\n')}\n-----END ${label}-----\n`;

const timeOf = (text: string) => new Date(text).toISOString();

const bring = ({ admin }: Desk, { certificate, key }: Pick<ForeignAuthority, 'certificate' | 'key'>) =>
  admin.importAuthority({ certificate, private_key: key });

describe('refused is an authority', () => {
  const NO_AUTHORITY = /must be a CA certificate \(CA:TRUE, keyCertSign, cRLSign\)/u;
  const encrypted = () =>
    openssl(['pkcs8', '-topk8', '-in', root.keyFile, '-passout', 'pass:secret', '-v2', 'aes-256-cbc']);
  const ec = onCurve('P-384');
  const with_ = (extensions: string[], more: object = {}) =>
    makeForeignAuthority({ subject: '/CN=Odd', keyFile: root.keyFile, extensions, ...more });
  const withKey = (key: string[]) => makeForeignAuthority({ subject: '/CN=Odd', key });

  it.each<[string, string, () => Pick<ForeignAuthority, 'certificate' | 'key'>, RegExp, object]>([
    [
      'whose key is another',
      'private_key',
      () => ({ certificate: root.certificate, key: intermediate.key }),
      /does not belong to the certificate/u,
      { reason: 'not_key_of_certificate' },
    ],
    [
      'of an EC key on another curve',
      'private_key',
      () => withKey(ec),
      /^must be RSA of at least 2048 bits or EC P-256 \(got EC P-384\)$/u,
      { reason: 'unsupported_key', values: { key_type: 'EC P-384', min: 2048 } },
    ],
    [
      'of an RSA key of 1024 bits',
      'private_key',
      () => withKey(['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024']),
      /^must be RSA of at least 2048 bits or EC P-256 \(got 1024 bits\)$/u,
      { reason: 'key_too_short', values: { min: 2048, got: 1024 } },
    ],
    [
      'that is none',
      'certificate',
      () => with_(['basicConstraints=critical,CA:FALSE']),
      NO_AUTHORITY,
      { reason: 'not_an_authority' },
    ],
    [
      'that does not say so',
      'certificate',
      () => with_(['subjectKeyIdentifier=hash']),
      NO_AUTHORITY,
      { reason: 'not_an_authority' },
    ],
    [
      'that may sign no lists',
      'certificate',
      () => with_(['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign']),
      NO_AUTHORITY,
      { reason: 'not_an_authority' },
    ],
    [
      'that may sign no certificates',
      'certificate',
      () => with_(['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,cRLSign']),
      NO_AUTHORITY,
      { reason: 'not_an_authority' },
    ],
    [
      'below which client certificates are good for nothing',
      'certificate',
      () => with_([...AUTHORITY_EXTENSIONS, 'extendedKeyUsage=serverAuth']),
      /must allow client certificates \(extended key usage clientAuth\), and so must each in its chain/u,
      { reason: 'client_auth_required' },
    ],
    [
      'below one that allows no client certificates',
      'certificate',
      () => {
        const signer = with_([...AUTHORITY_EXTENSIONS, 'extendedKeyUsage=anyExtendedKeyUsage']);
        const below = makeForeignAuthority({ subject: '/CN=Below', signer });
        return { certificate: below.certificate + signer.certificate, key: below.key };
      },
      /must allow client certificates/u,
      { reason: 'client_auth_required' },
    ],
    [
      'that permits some subjects only',
      'certificate',
      () =>
        with_([
          ...AUTHORITY_EXTENSIONS,
          'nameConstraints=critical,permitted;dirName:names',
          '[names]',
          'O=Acme',
        ]),
      /^CN=Odd must not have name constraints for directory names or email addresses: many client certificates/u,
      { reason: 'name_constraints', values: { certificate: 'CN=Odd' } },
    ],
    [
      'below one that excludes email addresses',
      'certificate',
      () => {
        const signer = with_([
          ...AUTHORITY_EXTENSIONS,
          'nameConstraints=critical,excluded;email:acme.example',
        ]);
        const below = makeForeignAuthority({ subject: '/CN=Below', signer });
        return { certificate: below.certificate + signer.certificate, key: below.key };
      },
      /^CN=Odd must not have name constraints/u,
      { reason: 'name_constraints', values: { certificate: 'CN=Odd' } },
    ],
    [
      'whose key is encrypted',
      'private_key',
      () => ({ certificate: root.certificate, key: encrypted() }),
      /must be a private key in PEM that is not encrypted/u,
      { reason: 'not_a_private_key' },
    ],
    [
      'whose key is a public one',
      'private_key',
      () => ({ certificate: root.certificate, key: openssl(['pkey', '-in', root.keyFile, '-pubout']) }),
      /must be a private key/u,
      { reason: 'not_a_private_key' },
    ],
    [
      'of garbage',
      'certificate',
      () => ({ certificate: 'garbage', key: root.key }),
      /must contain 1 to 8 certificates/u,
      { reason: 'certificate_count', values: { min: 1, max: 8 } },
    ],
    [
      'of a damaged certificate',
      'certificate',
      () => ({
        certificate: root.certificate.replace(/^MII.{20}/mu, 'MIIAAAAAAAAAAAAAAAAAAAA'),
        key: root.key,
      }),
      /cannot be read/u,
      { reason: 'unreadable_certificate' },
    ],
    [
      'without a key',
      'private_key',
      () => ({ certificate: root.certificate, key: '' }),
      /must be a private key/u,
      { reason: 'not_a_private_key' },
    ],
    [
      'whose chain begins at its end',
      'private_key',
      () => ({ certificate: root.certificate + intermediate.certificate, key: intermediate.key }),
      /does not belong to the certificate/u,
      { reason: 'not_key_of_certificate' },
    ],
    [
      'whose chain goes on with one that did not sign it',
      'certificate',
      () => ({
        certificate: intermediate.certificate + makeForeignAuthority({ subject: SUBJECT }).certificate,
        key: intermediate.key,
      }),
      /each further certificate must have signed the one before it/u,
      { reason: 'chain_order' },
    ],
    [
      'whose chain has one too many',
      'certificate',
      () => ({ certificate: root.certificate + intermediate.certificate, key: root.key }),
      /each further certificate must have signed the one before it/u,
      { reason: 'chain_order' },
    ],
    [
      'below one that allows no other below it',
      'certificate',
      () => {
        const extensions = ['basicConstraints=critical,CA:TRUE,pathlen:0', ...AUTHORITY_EXTENSIONS.slice(1)];
        const signer = makeForeignAuthority({ subject: '/CN=Acme Root 0', extensions });
        const below = makeForeignAuthority({ subject: '/CN=Below', signer });
        return { certificate: below.certificate + signer.certificate, key: below.key };
      },
      /CN=Acme Root 0 in its chain allows 0 CA certificates below it \(pathlen\), not 1/u,
      { reason: 'chain_too_long', values: { certificate: 'CN=Acme Root 0', max: 0, got: 1 } },
    ],
    [
      'two below one that allows one',
      'certificate',
      () => {
        const extensions = ['basicConstraints=critical,CA:TRUE,pathlen:1', ...AUTHORITY_EXTENSIONS.slice(1)];
        const top = makeForeignAuthority({ subject: '/CN=Acme Root 1', extensions });
        const middle = makeForeignAuthority({ subject: '/CN=Middle', signer: top });
        const below = makeForeignAuthority({ subject: '/CN=Below', signer: middle });
        return { certificate: below.certificate + middle.certificate + top.certificate, key: below.key };
      },
      /CN=Acme Root 1 in its chain allows 1 CA certificates below it \(pathlen\), not 2/u,
      { reason: 'chain_too_long', values: { certificate: 'CN=Acme Root 1', max: 1, got: 2 } },
    ],
    [
      'below a certificate that is none',
      'certificate',
      () => {
        const signer = with_(['subjectKeyIdentifier=hash']);
        const below = makeForeignAuthority({ subject: '/CN=Below', signer });
        return { certificate: below.certificate + signer.certificate, key: below.key };
      },
      /CN=Odd in its chain must be a CA certificate \(CA:TRUE\)/u,
      { reason: 'no_authority_in_chain', values: { certificate: 'CN=Odd' } },
    ],
    [
      'of nine certificates',
      'certificate',
      () => ({ certificate: root.certificate.repeat(9), key: root.key }),
      /must contain 1 to 8 certificates/u,
      { reason: 'certificate_count', values: { min: 1, max: 8 } },
    ],
  ])('%s', async (_what, path, make, message, rule) => {
    const desk = await openDesk(createTestClock(START));
    const before = await dumpDatabase(desk.dataDir);
    const failure = {
      code: 'invalid_request',
      status: 400,
      details: [{ path, message: expect.stringMatching(message) as string, ...rule }],
    };
    await expect(bring(desk, make())).rejects.toMatchObject(failure);
    expect(await dumpDatabase(desk.dataDir)).toBe(before);
  });

  it.each<[string, string, () => string]>([
    ['Ed448', 'Ed448', () => openssl(['genpkey', '-algorithm', 'ED448'])],
    ['X448', 'X448', () => openssl(['genpkey', '-algorithm', 'X448'])],
    ['DSA', 'DSA', () => openssl(['pkey', '-in', dsaKeyFile()])],
    ['DSA in its older form', 'DSA', () => openssl(['pkey', '-in', dsaKeyFile(), '-traditional'])],
    ['RSA-PSS', 'RSA-PSS', () => openssl(['genpkey', '-algorithm', 'RSA-PSS', ...BITS])],
    ['EC secp256k1', 'EC secp256k1', () => openssl(['genpkey', ...onCurve('secp256k1')])],
    [
      'EC, a Brainpool curve',
      'EC brainpoolP384r1',
      () => openssl(['genpkey', ...onCurve('brainpoolP384r1')]),
    ],
    [
      'EC in its older form',
      'EC secp256k1',
      () => openssl(['ecparam', '-name', 'secp256k1', '-genkey', '-noout']),
    ],
    [
      'a type that the crypto library does not know',
      '1.3.101.114',
      () => pemOf('PRIVATE KEY', withUnknownType(derOf(openssl(['genpkey', '-algorithm', 'ED448'])))),
    ],
  ])('whose key is %s, which is named', async (_what, type, makeKeyPem) => {
    const desk = await openDesk(createTestClock(START));
    await expect(bring(desk, { certificate: root.certificate, key: makeKeyPem() })).rejects.toMatchObject({
      code: 'invalid_request',
      message: `private_key: must be RSA of at least 2048 bits or EC P-256 (got ${type})`,
      details: [{ reason: 'unsupported_key', values: { key_type: type, min: 2048 } }],
    });
  });

  it('whose certificate has a key of another type, which is named', async () => {
    const desk = await openDesk(createTestClock(START));
    const { certificate } = withKey(['-algorithm', 'ED448']);
    const unknown = pemOf('CERTIFICATE', withUnknownType(derOf(certificate)));
    for (const [given, type] of [
      [certificate, 'Ed448'],
      [unknown, '1.3.101.114'],
    ] as const) {
      await expect(bring(desk, { certificate: given, key: root.key })).rejects.toMatchObject({
        message: `certificate: its key must be RSA of at least 2048 bits or EC P-256 (got ${type})`,
        details: [{ reason: 'unsupported_key', values: { key_type: type, min: 2048 } }],
      });
    }
  });

  it('whose chain has a key that the crypto library cannot load, whose type is named', async () => {
    const top = makeForeignAuthority({ subject: SUBJECT, key: ['-algorithm', 'ED448'] });
    const below = makeForeignAuthority({ subject: '/CN=Acme Issuing 2', signer: top });
    const unknown = pemOf('CERTIFICATE', withUnknownType(derOf(top.certificate)));
    const desk = await openDesk(createTestClock(START));
    await expect(
      bring(desk, { certificate: below.certificate + unknown, key: below.key }),
    ).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'certificate: a certificate in its chain has a key of an unsupported type (1.3.101.114)',
      details: [
        {
          reason: 'unsupported_key_in_chain',
          values: { certificate: 'CN=Acme Root,O=Acme a.s.,C=CZ', key_type: '1.3.101.114' },
        },
      ],
    });
    // Node's own OpenSSL can load Ed448.
    await bring(desk, { certificate: below.certificate + top.certificate, key: below.key });
  });

  it('that has ended, or has not begun', async () => {
    const [read] = certificatesIn(root.certificate);
    const ended = await openDesk(createTestClock(Date.parse(read!.validTo)));
    await expect(bring(ended, root)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/certificate: expired on /u) as string,
      details: [{ reason: 'certificate_expired', values: { time: timeOf(read!.validTo) } }],
    });
    const early = await openDesk(createTestClock(Date.parse(read!.validFrom) - 1000));
    await expect(bring(early, root)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'certificate: is not valid yet',
      details: [
        {
          reason: 'certificate_not_valid_yet',
          values: { certificate: 'CN=Acme Root,O=Acme a.s.,C=CZ', time: timeOf(read!.validFrom) },
        },
      ],
    });
  });

  it('below one that has ended', async () => {
    const top = makeForeignAuthority({ subject: '/CN=Acme Short', days: 30 });
    const below = makeForeignAuthority({ subject: '/CN=Below', signer: top });
    const [read] = certificatesIn(top.certificate);
    const chain = { certificate: below.certificate + top.certificate, key: below.key };
    const ended = await openDesk(createTestClock(Date.parse(read!.validTo)));
    await expect(bring(ended, chain)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/certificate: CN=Acme Short in its chain expired on /u) as string,
      details: [
        {
          reason: 'certificate_expired',
          values: { certificate: 'CN=Acme Short', time: timeOf(read!.validTo) },
        },
      ],
    });
    await bring(await openDesk(createTestClock(Date.parse(read!.validTo) - 1000)), chain);
  });

  it('whose own signature is wrong', async () => {
    const desk = await openDesk(createTestClock(START));
    const [read] = certificatesIn(root.certificate);
    const der = Buffer.from(read!.raw);
    der[der.length - 1]! ^= 1;
    const certificate = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    await expect(bring(desk, { certificate, key: root.key })).rejects.toMatchObject({
      message: 'certificate: its signature is not valid',
      details: [{ reason: 'invalid_signature' }],
    });
  });

  it('that OpenSSL reads, though it is not DER', async () => {
    const desk = await openDesk(createTestClock(START));
    const der = certificatesIn(intermediate.certificate)[0]!.raw;
    // The length of what is signed, with a zero in front that it does not need.
    const inner = Buffer.concat([Buffer.from([0x30, 0x83, 0]), der.subarray(6)]);
    const altered = Buffer.concat([Buffer.from([0x30, 0x82, 0, 0]), inner]);
    altered.writeUInt16BE(inner.length, 2);
    const certificate = `-----BEGIN CERTIFICATE-----\n${altered.toString('base64')}\n-----END CERTIFICATE-----\n`;
    expect(certificatesIn(certificate)).toHaveLength(1);
    await expect(bring(desk, { certificate, key: intermediate.key })).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'certificate: cannot be read: it is not DER',
      details: [{ reason: 'not_der' }],
    });
  });
});
