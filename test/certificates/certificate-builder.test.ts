import { createPublicKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  buildAuthorityCertificate,
  buildClientCertificate,
  buildServerCertificate,
} from '#server/features/certificates/certificate-builder.ts';
import { buildRevocationList, encodeRevokedEntry } from '#server/features/certificates/crl-builder.ts';
import { DerError, readElements, tlv } from '#server/features/certificates/der.ts';
import { keyIdentifier, maySign, newSerial, readIssuer } from '#server/features/certificates/issuer.ts';
import { toPem } from '#server/features/certificates/pem.ts';
import {
  certificateFile,
  fileOf,
  leafOf,
  listFile,
  makeAuthority,
  makeKey,
  NOW,
  openssl,
  rsaKeys,
  verifyErrors,
} from './openssl.ts';

const DAY = 86_400_000;
const authority = makeAuthority();
const keys = rsaKeys();
const client = (changes: object = {}) =>
  buildClientCertificate({
    ...leafOf(authority, keys.publicKey),
    names: { commonName: 'Jan', organization: 'Firma', email: 'jan@firma.example' },
    ...changes,
  });
const server = (changes: object = {}) =>
  buildServerCertificate({
    ...leafOf(authority, keys.publicKey),
    commonName: 'desk.example',
    hosts: ['desk.example'],
    ...changes,
  });
const revocations = (entries: Buffer = Buffer.alloc(0)) =>
  buildRevocationList({
    issuer: authority.issuer,
    number: 1,
    thisUpdate: NOW - DAY,
    nextUpdate: NOW + DAY,
    entries,
  });

/** `openssl x509 -text`, a list of lines without indentation. */
function linesOf(certificate: Buffer): string[] {
  const text = openssl(
    ['x509', '-noout', '-text', '-certopt', 'no_sigdump'],
    toPem('CERTIFICATE', certificate),
  );
  return text.split('\n').map((line) => line.trim());
}

/** The extensions of a certificate as OpenSSL prints them: title to value. */
function extensionsOf(certificate: Buffer): Record<string, string> {
  const lines = linesOf(certificate);
  const extensions = lines.slice(lines.indexOf('X509v3 extensions:') + 1).join('\n');
  const parts = extensions.split(/^X509v3 (.+): ?(critical)?$/mu).slice(1);
  const found: Record<string, string> = {};
  for (let at = 0; at < parts.length; at += 3) {
    const value = parts[at + 2]!.split('\n').filter((line) => line !== '');
    found[parts[at]!] = [...(parts[at + 1] ? ['critical'] : []), ...value].join(' ');
  }
  return found;
}

const colons = (bytes: Buffer) => bytes.toString('hex').toUpperCase().match(/../gu)!.join(':');

describe('openssl verify -x509_strict', () => {
  const verify = (certificate: Buffer, list: Buffer | null, purpose = 'sslclient', at = NOW) =>
    verifyErrors(
      [
        '-purpose',
        purpose,
        '-CAfile',
        certificateFile(authority.certificate),
        ...(list ? ['-crl_check', '-CRLfile', listFile(list)] : []),
        certificateFile(certificate),
      ],
      at,
    );
  const revoked = (serial: Buffer) =>
    revocations(encodeRevokedEntry({ serial, revokedAt: NOW - DAY, reason: 'superseded' }));

  test('takes a good client certificate', () => {
    expect(verify(client(), revocations())).toEqual([]);
    expect(verify(client(), revoked(newSerial()))).toEqual([]);
  });

  test('knows a revoked one (23)', () => {
    const serial = newSerial();
    expect(verify(client({ serial }), revoked(serial))).toEqual([23]);
  });

  test('knows one that has expired (10), and one that does not hold yet (9)', () => {
    expect(verify(client({ notAfter: NOW - 1000 }), revocations())).toEqual([10]);
    expect(verify(client({ notBefore: NOW + 1000 }), revocations())).toEqual([9]);
  });

  test('does not take a server certificate for that of a client, nor the reverse (26)', () => {
    expect(verify(server(), revocations())).toEqual([26]);
    expect(verify(server(), revocations(), 'sslserver')).toEqual([]);
    expect(verify(client(), revocations(), 'sslserver')).toEqual([26]);
  });

  test('misses a list that has run out (12)', () => {
    expect(verify(client(), revocations(), 'sslclient', NOW + 2 * DAY)).toEqual([12]);
  });

  test('does not take a client certificate for an authority', () => {
    const leaf = client();
    const { subject } = readIssuer(leaf);
    const issuer = { subject, keyIdentifier: keyIdentifier(keys.publicKey), privateKey: keys.privateKey };
    const below = buildClientCertificate({
      ...leafOf({ ...authority, issuer }, rsaKeys().publicKey),
      names: { commonName: 'below' },
    });
    const files = ['-untrusted', certificateFile(leaf), certificateFile(below)];
    const errors = verifyErrors(['-CAfile', certificateFile(authority.certificate), ...files]);
    expect(errors).toContain(79);
  });
});

describe('the extensions', () => {
  const identifier = colons(keyIdentifier(keys.publicKey));
  const issuerIdentifier = colons(authority.issuer.keyIdentifier);
  const distribution = 'Full Name: URI:http://desk.example:7080/certs/crl/?format=der';

  test('of an authority', () => {
    expect(extensionsOf(authority.certificate)).toEqual({
      'Basic Constraints': 'critical CA:TRUE, pathlen:0',
      'Key Usage': 'critical Certificate Sign, CRL Sign',
      'Subject Key Identifier': issuerIdentifier,
      'Authority Key Identifier': issuerIdentifier,
    });
  });

  test('of a client', () => {
    expect(extensionsOf(client())).toEqual({
      'Basic Constraints': 'critical CA:FALSE',
      'Key Usage': 'critical Digital Signature',
      'Extended Key Usage': 'TLS Web Client Authentication',
      'Subject Key Identifier': identifier,
      'Authority Key Identifier': issuerIdentifier,
      'Subject Alternative Name': 'email:jan@firma.example',
      'CRL Distribution Points': distribution,
    });
    expect(extensionsOf(client({ names: { commonName: 'Jan' } }))).not.toHaveProperty([
      'Subject Alternative Name',
    ]);
  });

  test('of a server', () => {
    const hosts = [
      'desk.example',
      '*.Firma.example.',
      'kůň.example',
      '10.0.0.7',
      '::1',
      '2001:db8::ff',
      'pc_1',
    ];
    expect(extensionsOf(server({ hosts }))).toEqual({
      'Basic Constraints': 'critical CA:FALSE',
      'Key Usage': 'critical Digital Signature, Key Encipherment',
      'Extended Key Usage': 'TLS Web Server Authentication',
      'Subject Key Identifier': identifier,
      'Authority Key Identifier': issuerIdentifier,
      'Subject Alternative Name':
        'DNS:desk.example, DNS:*.firma.example, DNS:xn--k-qla0j.example, IP Address:10.0.0.7, ' +
        'IP Address:0:0:0:0:0:0:0:1, IP Address:2001:DB8:0:0:0:0:0:FF, DNS:pc_1',
      'CRL Distribution Points': distribution,
    });
  });

  test('are in strict DER: no default is spelled out, no length is too long', () => {
    for (const certificate of [authority.certificate, client(), server()]) {
      expect(leavesOf(certificate)).not.toContain('010100');
      expect(openssl(['asn1parse', '-inform', 'DER'], certificate)).toMatch(/^\s+0:d=0\s+hl=4/u);
    }
  });

  test('say where the list is in ASCII', () => {
    const crlUrl = 'https://kůň.example/seznam č. 1';
    const { 'CRL Distribution Points': points } = extensionsOf(client({ crlUrl }));
    expect(points).toBe('Full Name: URI:https://xn--k-qla0j.example/seznam%20%C4%8D.%201');
  });

  test.each(['ftp://desk.example/crl', 'javascript:1', 'desk.example/crl', ''])(
    'do not send anybody to %j',
    (crlUrl) => {
      expect(() => client({ crlUrl })).toThrow(TypeError);
    },
  );

  test.each([
    '',
    ' ',
    'a b',
    'a..b',
    '-a',
    'a.*',
    '1.2.3',
    '[::1]',
    'a/b',
    'ů/b',
    'a:1',
    'a@b',
    'a%2e',
    `${'a'.repeat(64)}.b`,
  ])('do not name the host %j', (host) => {
    expect(() => server({ hosts: ['desk.example', host] })).toThrow(RangeError);
  });

  test('of a server name at least one host', () => {
    expect(() => server({ hosts: [] })).toThrow(RangeError);
  });

  test('name the hosts that Node checks', () => {
    const read = new X509Certificate(server({ hosts: ['*.firma.example', '192.0.2.1', '2001:db8::1'] }));
    expect(read.checkHost('desk.firma.example')).toBe('*.firma.example');
    expect(read.checkHost('firma.example')).toBeUndefined();
    expect(read.checkIP('192.0.2.1')).toBe('192.0.2.1');
    expect(read.checkIP('2001:db8:0::1')).toBe('2001:db8:0::1');
    expect(read.checkIP('192.0.2.2')).toBeUndefined();
  });

  test('name an IPv4-compatible address', () => {
    const read = new X509Certificate(server({ hosts: ['::192.0.2.1'] }));
    expect(read.checkIP('::192.0.2.1')).toBe('::192.0.2.1');
  });
});

/** All elements that hold no others, in hex. */
function leavesOf(bytes: Buffer): string[] {
  return readElements(bytes).flatMap(({ tag, content, bytes: whole }) => {
    if ((tag & 0x20) !== 0 || tag === 0x04) {
      try {
        return leavesOf(content);
      } catch (error) {
        if ((tag & 0x20) !== 0) throw error;
      }
    }
    return [whole.toString('hex')];
  });
}

describe('node:crypto', () => {
  test('agrees about an authority', () => {
    const read = new X509Certificate(authority.certificate);
    expect(read.ca).toBe(true);
    expect(read.checkIssued(read)).toBe(true);
    expect(read.verify(authority.publicKey)).toBe(true);
    expect(read.subject).toBe('O=Příliš žluťoučký kůň\\, s.r.o.\nCN=Desk Authority');
    expect(read.issuer).toBe(read.subject);
  });

  test('agrees about a client', () => {
    const serial = newSerial();
    const read = new X509Certificate(client({ serial }));
    const issuer = new X509Certificate(authority.certificate);
    expect(read.ca).toBe(false);
    expect(read.checkIssued(issuer)).toBe(true);
    expect(read.verify(issuer.publicKey)).toBe(true);
    expect(read.verify(keys.publicKey)).toBe(false);
    expect(read.checkPrivateKey(keys.privateKey)).toBe(true);
    expect(read.serialNumber.toLowerCase()).toBe(serial.toString('hex'));
    expect(read.subject).toBe('O=Firma\nemailAddress=jan@firma.example\nCN=Jan');
    expect(read.issuer).toBe(issuer.subject);
    expect(read.checkEmail('jan@firma.example')).toBe('jan@firma.example');
    expect(read.subjectAltName).toBe('email:jan@firma.example');
    // Extended, in Node's words.
    expect(read.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
    expect(read.infoAccess).toBeUndefined();
  });

  test('takes the PEM', () => {
    const der = client();
    const pem = toPem('CERTIFICATE', der);
    expect(pem).toBe(new X509Certificate(der).toString());
    expect(openssl(['x509'], pem)).toBe(pem);
  });
});

describe('a serial number', () => {
  test('has 16 bytes, is positive without a leading zero, and new each time', () => {
    const serials = Array.from({ length: 2000 }, () => newSerial());
    for (const serial of serials) {
      expect(serial).toHaveLength(16);
      expect(serial[0]! & 0xc0).toBe(0x40);
    }
    expect(new Set(serials.map((serial) => serial.toString('hex'))).size).toBe(2000);
  });

  test.each(['00ff', '80', '7fffffffffffffffffffffffffffffff', 'ffffffffffffffffffffffffffffffff'])(
    '%s stays positive in a certificate',
    (hex) => {
      const [line] = openssl(
        ['x509', '-noout', '-serial'],
        toPem('CERTIFICATE', client({ serial: Buffer.from(hex, 'hex') })),
      ).split('\n');
      expect(line).toBe(`serial=${hex.toUpperCase().replace(/^(00)+/u, '')}`);
    },
  );
});

describe('dates', () => {
  test('on both sides of 2050 are shown in whole seconds', () => {
    const notBefore = Date.UTC(2049, 11, 31, 23, 59, 59, 999);
    const read = new X509Certificate(client({ notBefore, notAfter: notBefore + 1 }));
    expect(read.validFromDate.toISOString()).toBe('2049-12-31T23:59:59.000Z');
    expect(read.validToDate.toISOString()).toBe('2050-01-01T00:00:00.000Z');
    const parsed = openssl(['asn1parse', '-inform', 'DER'], read.raw);
    expect(parsed).toMatch(/UTCTIME +:491231235959Z\n.*GENERALIZEDTIME +:20500101000000Z\n/u);
  });

  test('are those that went in', () => {
    const moment = fc
      .integer({ min: 0, max: Date.UTC(9999, 11, 31) / 1000 })
      .map((seconds) => seconds * 1000);
    fc.assert(
      fc.property(moment, moment, (notBefore, notAfter) => {
        const read = new X509Certificate(client({ notBefore, notAfter }));
        expect([read.validFromDate.getTime(), read.validToDate.getTime()]).toEqual([notBefore, notAfter]);
      }),
    );
  });
});

describe('the key of a subject', () => {
  test.each([
    ['RSA-3072', () => rsaKeys(3072)],
    ['P-256', () => generateKeyPairSync('ec', { namedCurve: 'P-256' })],
    ['P-384', () => generateKeyPairSync('ec', { namedCurve: 'P-384' })],
    ['P-521', () => generateKeyPairSync('ec', { namedCurve: 'P-521' })],
    ['Ed25519', () => generateKeyPairSync('ed25519')],
  ])('may be %s', (name, generate) => {
    const { publicKey, privateKey } = generate();
    const certificate = client({ publicKey });
    const read = new X509Certificate(certificate);
    expect(read.publicKey.equals(publicKey)).toBe(true);
    expect(read.checkPrivateKey(privateKey)).toBe(true);

    // OpenSSL's own idea of the identifier.
    const request = openssl([
      'req',
      '-x509',
      '-key',
      fileOf(privateKey.export({ format: 'pem', type: 'pkcs8' })),
      '-subj',
      '/CN=x',
    ]);
    const own = openssl(['x509', '-noout', '-ext', 'subjectKeyIdentifier'], request).split('\n')[1]!.trim();
    expect(colons(keyIdentifier(publicKey))).toBe(own);
    expect(extensionsOf(certificate)['Subject Key Identifier']).toBe(own);
    const chain = ['-CAfile', certificateFile(authority.certificate), certificateFile(certificate)];
    expect(verifyErrors(['-purpose', 'sslclient', ...chain])).toEqual([]);

    const usage = extensionsOf(server({ publicKey }))['Key Usage'];
    expect(usage).toBe(`critical Digital Signature${name.startsWith('RSA') ? ', Key Encipherment' : ''}`);
  });

  test('may be given by its private half, of which nothing gets in', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const read = new X509Certificate(client({ publicKey: privateKey }));
    expect(read.publicKey.equals(publicKey)).toBe(true);
    expect(createPublicKey(privateKey).equals(read.publicKey)).toBe(true);
  });
});

describe('an authority', () => {
  /** One that OpenSSL makes, with its names as PrintableString where they can be. */
  function imported(...extensions: readonly string[]) {
    const key = makeKey('-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048');
    const config = fileOf(
      [
        '[req]\nprompt=no\nstring_mask=pkix\ndistinguished_name=dn\n[dn]\nC=CZ\nO=Firma\nOU=IT\nCN=Old Root\n[v3]',
        ...extensions,
      ].join('\n'),
    );
    const dates = ['-days', '20000'];
    const args = ['req', '-x509', '-new', '-key', key.file, '-config', config, '-extensions', 'v3', ...dates];
    return { pem: openssl(args), key };
  }

  test('may come from any software, and is named byte for byte', () => {
    const { pem, key } = imported(
      'basicConstraints=critical,CA:TRUE',
      'keyUsage=critical,keyCertSign,cRLSign',
      'subjectKeyIdentifier=0102030405',
      'authorityKeyIdentifier=keyid',
    );
    const certificate = new X509Certificate(pem).raw;
    const { subject, keyIdentifier: identifier } = readIssuer(certificate);
    expect(identifier).toEqual(Buffer.from('0102030405', 'hex'));
    expect(openssl(['asn1parse', '-inform', 'DER'], subject)).toMatch(/PRINTABLESTRING +:Old Root/u);

    const issuer = { subject, keyIdentifier: identifier!, privateKey: key.privateKey };
    const at = Date.now();
    const order = {
      ...leafOf({ ...authority, issuer }, keys.publicKey),
      notBefore: at - DAY,
      notAfter: at + DAY,
    };
    const leaf = buildClientCertificate({ ...order, names: { commonName: 'Jan' } });
    expect(new X509Certificate(leaf).checkIssued(new X509Certificate(pem))).toBe(true);
    expect(leaf.includes(subject)).toBe(true);
    const list = buildRevocationList({
      issuer,
      number: 7,
      thisUpdate: at - DAY,
      nextUpdate: at + DAY,
      entries: Buffer.alloc(0),
    });
    const files = [
      '-CAfile',
      certificateFile(certificate),
      '-CRLfile',
      listFile(list),
      certificateFile(leaf),
    ];
    expect(verifyErrors(['-purpose', 'sslclient', '-crl_check', ...files], at)).toEqual([]);
  });

  test('may have no key identifier', () => {
    const { pem } = imported('subjectKeyIdentifier=none', 'authorityKeyIdentifier=none');
    const read = readIssuer(new X509Certificate(pem).raw);
    expect(read.keyIdentifier).toBeNull();
    expect(openssl(['asn1parse', '-inform', 'DER'], read.subject)).toContain(':Old Root');
  });

  test('of version 1 is read too', () => {
    const key = makeKey('-algorithm', 'ED25519');
    const request = openssl(['req', '-new', '-key', key.file, '-subj', '/CN=One']);
    const pem = openssl(['x509', '-req', '-signkey', key.file], request);
    expect(linesOf(new X509Certificate(pem).raw)).toContain('Version: 1 (0x0)');
    const { raw } = new X509Certificate(pem);
    expect(maySign(raw)).toBe(true);
    const { subject, keyIdentifier: none } = readIssuer(raw);
    expect(openssl(['asn1parse', '-inform', 'DER'], subject)).toContain(':One');
    expect(none).toBeNull();
  });

  test('of ours is read as it was written', () => {
    const { subject, keyIdentifier: identifier } = readIssuer(authority.certificate);
    expect(subject).toEqual(authority.issuer.subject);
    expect(identifier).toEqual(keyIdentifier(authority.publicKey));
  });

  test.each([
    ['keyCertSign,cRLSign', true],
    ['digitalSignature,keyCertSign,cRLSign,decipherOnly', true],
    ['keyCertSign', false],
    ['cRLSign', false],
    ['digitalSignature', false],
  ])('with the key usage %s may sign certificates and lists: %s', (usage, expected) => {
    const { pem } = imported('basicConstraints=critical,CA:TRUE', `keyUsage=${usage}`);
    expect(maySign(new X509Certificate(pem).raw)).toBe(expected);
  });

  test('of ours may sign, a client may not', () => {
    expect(maySign(authority.certificate)).toBe(true);
    expect(maySign(client())).toBe(false);
  });

  test('that is not a certificate is a DerError', () => {
    expect(() => readIssuer(Buffer.alloc(0))).toThrow(DerError);
    expect(() => readIssuer(tlv(0x30, tlv(0x30)))).toThrow(DerError);
    fc.assert(
      fc.property(fc.nat(authority.certificate.length - 1), fc.nat(255), (at, octet) => {
        const changed = Buffer.from(authority.certificate);
        changed[at] = octet;
        try {
          readIssuer(changed);
          maySign(changed);
        } catch (error) {
          expect(error).toBeInstanceOf(DerError);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('must have an RSA key', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const names = { commonName: 'x' };
    const order = { names, serial: newSerial(), notBefore: NOW, notAfter: NOW + DAY, publicKey, privateKey };
    expect(() => buildAuthorityCertificate(order)).toThrow(TypeError);
  });
});
