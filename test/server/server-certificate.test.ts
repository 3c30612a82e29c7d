import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { NetworkInterfaceInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildServerCertificate } from '#server/features/certificates/certificate-builder.ts';
import { newSerial } from '#server/features/certificates/issuer.ts';
import { generateEcKey } from '#server/features/certificates/key-pair.ts';
import {
  authorityMark,
  intermediates,
  reasonToReplace,
} from '#server/features/certificates/server-certificate.ts';
import {
  readServerCertificate,
  writeServerCertificate,
} from '#server/features/certificates/server-certificate-file.ts';
import { type Machine, serverNames } from '#server/features/certificates/server-names.ts';
import { toPem } from '#server/features/certificates/pem.ts';
import { certificateHolder, certificateLife } from '#server/platform/certificate-life.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { type Authority, makeAuthority, NOW } from '../certificates/openssl.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';

const DAY = 86_400_000;

function address(text: string, internal = false): NetworkInterfaceInfo {
  const more = { netmask: '', mac: '', internal, cidr: null };
  return text.includes(':')
    ? { ...more, family: 'IPv6', address: text, scopeid: 0 }
    : { ...more, family: 'IPv4', address: text };
}

const MACHINE: Machine = {
  hostname: 'Desk7.Office.example',
  interfaces: {
    lo: [address('127.0.0.1', true), address('::1', true)],
    eth0: [address('10.1.2.3'), address('2001:DB8:0::7'), address('fe80::1')],
    gone: undefined,
  },
};
const ALWAYS = ['localhost', '127.0.0.1', '::1', 'desk7.office.example', 'desk7'];

describe('the names of the server', () => {
  it.each<[string, { host?: string; baseUrl?: string | null }, string[]]>([
    ['loopback only', {}, []],
    ['every IPv4 address', { host: '0.0.0.0' }, ['10.1.2.3']],
    ['every address', { host: '::' }, ['10.1.2.3', '2001:db8::7']],
    ['every address, spelled out', { host: '0:0:0:0:0:0:0:0' }, ['10.1.2.3', '2001:db8::7']],
    ['one address', { host: '10.1.2.3' }, ['10.1.2.3']],
    ['one address, spelled out', { host: '2001:DB8:0:0::7' }, ['2001:db8::7']],
    ['a name', { host: 'License.LAN' }, ['license.lan']],
    ['a base URL', { baseUrl: 'https://desk.example:8443/path' }, ['desk.example']],
    ['a base URL beyond ASCII', { baseUrl: 'https://lizenz-büro.example' }, ['xn--lizenz-bro-heb.example']],
    ['a base URL with an address', { baseUrl: 'http://[2001:db8::8]:1' }, ['2001:db8::8']],
    ['the same again', { host: 'localhost', baseUrl: 'http://LOCALHOST' }, []],
  ])('%s', (_what, { host = '127.0.0.1', baseUrl = null }, more) => {
    const { commonName, hosts } = serverNames({ host, baseUrl }, MACHINE);
    expect(commonName).toBe('desk7.office.example');
    expect(hosts).toEqual([...ALWAYS, ...more].toSorted());
  });

  it.each([
    ["Anna's MacBook (2)", 'localhost'],
    ['', 'localhost'],
    [`${'x'.repeat(60)}.example`, 'localhost'],
    ['desk', 'desk'],
  ])('of a machine called %j', (hostname, commonName) => {
    const names = serverNames({ host: '127.0.0.1', baseUrl: null }, { hostname, interfaces: {} });
    expect(names.commonName).toBe(commonName);
    expect(names.hosts).toContain('localhost');
  });
});

interface Term {
  from?: number;
  to?: number;
  hosts?: string[];
}

async function certificateOf(authority: Authority, { from = NOW, to = NOW + 90 * DAY, hosts = ['a'] }: Term) {
  const { publicKey } = await generateEcKey();
  const { issuer } = authority;
  const names = { commonName: 'a', hosts };
  const der = buildServerCertificate({
    issuer,
    serial: newSerial(),
    notBefore: from,
    notAfter: to,
    publicKey,
    ...names,
  });
  return toPem('CERTIFICATE', der);
}

describe('a certificate is replaced', () => {
  const made = makeAuthority();
  const authority = { id: 3, certificate: new X509Certificate(made.certificate), notAfter: NOW + 3650 * DAY };
  const mark = authorityMark(authority);

  const OLD = 'it expires soon';
  const EARLY = 'it is not valid yet';
  it.each<[string, Term, number, number, string | null]>([
    ['when it is new: no', {}, 0, 3650, null],
    ['with more than a third left: no', {}, 59.9, 3650, null],
    ['with less than a third left', {}, 60.1, 3650, OLD],
    ['when it has ended', {}, 91, 3650, OLD],
    ['when it is not valid yet', { from: NOW + DAY }, 0, 3650, EARLY],
    ['with a short life, by its third', { to: NOW + 9 * DAY }, 5.9, 3650, null],
    ['with a short life, after it', { to: NOW + 9 * DAY }, 6.1, 3650, OLD],
    ['when the authority ends with it: no', {}, 60.1, 90, null],
    ['when the authority ends a day later', {}, 60.1, 91, OLD],
  ])('%s', async (_what, term, daysLater, authorityDays, reason) => {
    const inUse = { certificate: await certificateOf(made, term), authority: mark, hosts: ['a'] };
    const now = NOW + daysLater * DAY;
    const circumstances = {
      authority: { ...authority, notAfter: NOW + authorityDays * DAY },
      hosts: ['a'],
      now,
    };
    expect(reasonToReplace(inUse, circumstances)).toBe(reason);
  });

  it('when the names or the authority are others', async () => {
    const inUse = { certificate: await certificateOf(made, {}), authority: mark, hosts: ['a'] };
    const reason = (change: object) =>
      reasonToReplace(inUse, { authority, hosts: ['a'], now: NOW, ...change });
    expect(reason({})).toBeNull();
    expect(reason({ hosts: ['a', 'b'] })).toContain('names');
    expect(reason({ hosts: [] })).toContain('names');
    expect(reason({ authority: { ...authority, id: 4 } })).toContain('authority');
    const certificate = new X509Certificate(makeAuthority().certificate);
    expect(reason({ authority: { ...authority, certificate } })).toContain('authority');
  });

  it('and omits the authority, which clients have', () => {
    const { certificate } = authority;
    expect(intermediates({ certificate, pem: certificate.toString() })).toBe('');
  });
});

describe('the file that keeps it', () => {
  const sealer = createSealer(Buffer.alloc(32, 1));

  async function keep(): Promise<{ dataDir: string; file: string; content: string }> {
    const dataDir = await keptDataDir();
    const { publicKey, privateKeyDer } = await generateEcKey();
    const { issuer } = makeAuthority();
    const term = { notBefore: NOW, notAfter: NOW + DAY };
    const names = { commonName: 'a', hosts: ['a'] };
    const der = buildServerCertificate({ issuer, serial: newSerial(), ...term, publicKey, ...names });
    const certificate = toPem('CERTIFICATE', der);
    writeServerCertificate(dataDir, sealer, { certificate, privateKeyDer, authority: 'mark', hosts: ['a'] });
    const file = join(dataDir, 'tls', 'server.json');
    return { dataDir, file, content: readFileSync(file, 'utf8') };
  }

  it('is read as it was written', async () => {
    const { dataDir } = await keep();
    expect(readServerCertificate(dataDir, sealer)).toMatchObject({ authority: 'mark', hosts: ['a'] });
    expect(readServerCertificate(await keptDataDir(), sealer)).toBeNull();
  });

  it('is of no use under another master key', async () => {
    const { dataDir } = await keep();
    const other = createSealer(Buffer.alloc(32, 2));
    expect(() => readServerCertificate(dataDir, other)).toThrow('a different master key');
  });

  it.each<[string, (content: string, other: string) => string]>([
    ['is empty', () => ''],
    ['is no object', () => 'null'],
    ['lacks everything', () => '{}'],
    ['is cut off', (content) => content.slice(0, 100)],
    ['has an altered key', (content) => content.replace('v1.', 'v1.AAAA')],
    ['has no certificate', (content) => content.replace('BEGIN CERTIFICATE', 'BEGIN NOTHING')],
    [
      'has the key of another certificate',
      (content, other) => {
        const { certificate } = JSON.parse(other) as { certificate: string };
        return JSON.stringify({ ...(JSON.parse(content) as object), certificate });
      },
    ],
  ])('is not taken if it %s', async (_what, damage) => {
    const { dataDir, file, content } = await keep();
    writeFileSync(file, damage(content, (await keep()).content));
    expect(() => readServerCertificate(dataDir, sealer)).toThrow(/./u);
  });
});

describe('the life of a certificate', () => {
  it.each([
    [-1, 'not_yet_valid', /^is not valid yet, but on 2026-06-15T12:00:00.000Z$/u],
    [0.5, 'good', /^expires in 89 days, on 2026-09-13T12:00:00.000Z$/u],
    [82.9, 'good', /^expires in 7 days/u],
    [83.1, 'ending', /^expires in 6 days/u],
    [88.5, 'ending', /^expires in 1 day,/u],
    [89.5, 'ending', /^expires in 0 days/u],
    [90.1, 'ended', /^expired on 2026-09-13T12:00:00.000Z$/u],
  ])('after %d days', async (days, state, text) => {
    const certificate = new X509Certificate(await certificateOf(makeAuthority(), {}));
    const life = certificateLife(certificate, NOW + days * DAY);
    expect(life.state).toBe(state);
    expect(life.text).toMatch(text);
    expect(certificateHolder(certificate)).toBe('CN=a');
  });
});
