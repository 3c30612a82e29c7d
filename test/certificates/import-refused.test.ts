// An authority of somebody else's making that would be of no use is refused, and the one there is stays.
import { beforeAll, describe, expect, it } from 'vitest';
import { dumpDatabase } from '../helpers/database.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { type Desk, openDesk } from './desk.ts';
import { AUTHORITY_EXTENSIONS, type ForeignAuthority, makeForeignAuthority } from './foreign-authority.ts';
import { certificatesIn } from './issuing.ts';
import { openssl } from './openssl.ts';

const START = Math.floor(Date.now() / 1000) * 1000 + 60_000;
const SUBJECT = '/C=CZ/O=Acme a.s./CN=Acme Root';
let root: ForeignAuthority;
let intermediate: ForeignAuthority;

beforeAll(() => {
  root = makeForeignAuthority({ subject: SUBJECT });
  const extensions = ['basicConstraints=critical,CA:TRUE,pathlen:0', ...AUTHORITY_EXTENSIONS.slice(1)];
  intermediate = makeForeignAuthority({ subject: '/CN=Acme Issuing 1', signer: root, extensions });
});

const bring = ({ admin }: Desk, { certificate, key }: Pick<ForeignAuthority, 'certificate' | 'key'>) =>
  admin.importAuthority({ certificate, private_key: key });

describe('refused is an authority', () => {
  const NO_AUTHORITY = /must be that of an authority: CA:TRUE, keyCertSign, cRLSign/u;
  const encrypted = () =>
    openssl(['pkcs8', '-topk8', '-in', root.keyFile, '-passout', 'pass:secret', '-v2', 'aes-256-cbc']);
  const ec = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'];
  const with_ = (extensions: string[], more: object = {}) =>
    makeForeignAuthority({ subject: '/CN=Odd', keyFile: root.keyFile, extensions, ...more });
  const withKey = (key: string[]) => makeForeignAuthority({ subject: '/CN=Odd', key });

  it.each<[string, string, () => Pick<ForeignAuthority, 'certificate' | 'key'>, RegExp]>([
    [
      'whose key is another',
      'private_key',
      () => ({ certificate: root.certificate, key: intermediate.key }),
      /does not belong to the certificate/u,
    ],
    ['of an EC key', 'private_key', () => withKey(ec), /must be RSA of at least 2048 bits/u],
    [
      'of an RSA key of 1024 bits',
      'private_key',
      () => withKey(['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024']),
      /must be RSA of at least 2048 bits/u,
    ],
    ['that is none', 'certificate', () => with_(['basicConstraints=critical,CA:FALSE']), NO_AUTHORITY],
    ['that does not say so', 'certificate', () => with_(['subjectKeyIdentifier=hash']), NO_AUTHORITY],
    [
      'that may sign no lists',
      'certificate',
      () => with_(['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign']),
      NO_AUTHORITY,
    ],
    [
      'that may sign no certificates',
      'certificate',
      () => with_(['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,cRLSign']),
      NO_AUTHORITY,
    ],
    [
      'whose key is encrypted',
      'private_key',
      () => ({ certificate: root.certificate, key: encrypted() }),
      /must be a private key in PEM that is not encrypted/u,
    ],
    [
      'whose key is a public one',
      'private_key',
      () => ({ certificate: root.certificate, key: openssl(['pkey', '-in', root.keyFile, '-pubout']) }),
      /must be a private key/u,
    ],
    [
      'of garbage',
      'certificate',
      () => ({ certificate: 'garbage', key: root.key }),
      /must hold 1 to 8 certificates/u,
    ],
    [
      'of a damaged certificate',
      'certificate',
      () => ({
        certificate: root.certificate.replace(/^MII.{20}/mu, 'MIIAAAAAAAAAAAAAAAAAAAA'),
        key: root.key,
      }),
      /cannot be read/u,
    ],
    [
      'without a key',
      'private_key',
      () => ({ certificate: root.certificate, key: '' }),
      /must be a private key/u,
    ],
    [
      'whose chain begins at its end',
      'private_key',
      () => ({ certificate: root.certificate + intermediate.certificate, key: intermediate.key }),
      /does not belong to the certificate/u,
    ],
    [
      'whose chain goes on with one that did not sign it',
      'certificate',
      () => ({
        certificate: intermediate.certificate + makeForeignAuthority({ subject: SUBJECT }).certificate,
        key: intermediate.key,
      }),
      /each further certificate must have signed the one before it/u,
    ],
    [
      'whose chain has one too many',
      'certificate',
      () => ({ certificate: root.certificate + intermediate.certificate, key: root.key }),
      /each further certificate must have signed the one before it/u,
    ],
    [
      'of nine certificates',
      'certificate',
      () => ({ certificate: root.certificate.repeat(9), key: root.key }),
      /must hold 1 to 8 certificates/u,
    ],
  ])('%s', async (_what, path, make, message) => {
    const desk = await openDesk(createTestClock(START));
    const before = await dumpDatabase(desk.dataDir);
    const failure = {
      code: 'invalid_request',
      status: 400,
      details: [{ path, message: expect.stringMatching(message) as string }],
    };
    await expect(bring(desk, make())).rejects.toMatchObject(failure);
    expect(await dumpDatabase(desk.dataDir)).toBe(before);
  });

  it('that has ended, or has not begun', async () => {
    const [read] = certificatesIn(root.certificate);
    const ended = await openDesk(createTestClock(Date.parse(read!.validTo)));
    await expect(bring(ended, root)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/certificate: has ended on /u) as string,
    });
    const early = await openDesk(createTestClock(Date.parse(read!.validFrom) - 1000));
    await expect(bring(early, root)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'certificate: is not valid yet',
    });
  });

  it('whose own signature is wrong', async () => {
    const desk = await openDesk(createTestClock(START));
    const [read] = certificatesIn(root.certificate);
    const der = Buffer.from(read!.raw);
    der[der.length - 1]! ^= 1;
    const certificate = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    await expect(bring(desk, { certificate, key: root.key })).rejects.toMatchObject({
      message: 'certificate: its signature is wrong',
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
    });
  });
});
