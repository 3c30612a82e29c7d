// Certificates for tests: authorities of our making, files, and the OpenSSL binary's opinion of them.
import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { buildAuthorityCertificate } from '#server/features/certificates/certificate-builder.ts';
import { type Issuer, keyIdentifier, newSerial, readIssuer } from '#server/features/certificates/issuer.ts';
import { toPem } from '#server/features/certificates/pem.ts';

const DAY = 86_400_000;
/** The moment at which tests look: no clock is involved. */
export const NOW = Date.UTC(2026, 5, 15, 12);

export interface Authority {
  certificate: Buffer;
  issuer: Issuer;
  publicKey: KeyObject;
}

/** @param bits 2048 unless told */
export function rsaKeys(bits = 2048): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('rsa', { modulusLength: bits });
}

export function makeAuthority(commonName = 'Desk Authority'): Authority {
  const { publicKey, privateKey } = rsaKeys();
  const certificate = buildAuthorityCertificate({
    names: { commonName, organization: 'Příliš žluťoučký kůň, s.r.o.' },
    serial: newSerial(),
    notBefore: NOW - DAY,
    notAfter: NOW + 3650 * DAY,
    publicKey,
    privateKey,
  });
  const { subject } = readIssuer(certificate);
  return { certificate, issuer: { subject, keyIdentifier: keyIdentifier(publicKey), privateKey }, publicKey };
}

/** What a client certificate needs beside its names. */
export function leafOf({ issuer }: Authority, publicKey: KeyObject) {
  return {
    issuer,
    serial: newSerial(),
    notBefore: NOW - DAY,
    notAfter: NOW + 365 * DAY,
    publicKey,
    crlUrl: 'http://desk.example:7080/certs/crl/?format=der',
  };
}

/** @returns where the content is while the test runs */
export function fileOf(content: Buffer | string): string {
  const directory = mkdtempSync(join(tmpdir(), 'certificates-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, 'file.pem');
  writeFileSync(path, content);
  return path;
}

export const certificateFile = (der: Buffer) => fileOf(toPem('CERTIFICATE', der));
export const listFile = (der: Buffer) => fileOf(toPem('X509 CRL', der));

/** @returns standard output @throws if it exits with another code than 0 */
export function openssl(args: readonly string[], input?: Buffer | string): string {
  return execFileSync('openssl', [...args], {
    input: input ?? '',
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** The codes of all that `openssl verify -x509_strict` finds wrong, none if the chain is good. */
export function verifyErrors(args: readonly string[], at = NOW): number[] {
  const all = ['verify', '-x509_strict', '-attime', String(Math.floor(at / 1000)), ...args];
  const { status, stdout, stderr } = spawnSync('openssl', all, { encoding: 'utf8' });
  const errors = [...stderr.matchAll(/^error (\d+) at/gmu)].map((match) => Number(match[1]));
  if ((status === 0) !== (errors.length === 0)) throw new Error(`openssl verify: ${stdout}${stderr}`);
  return errors;
}

/** A key that OpenSSL makes, and a file that holds it. */
export function makeKey(...options: readonly string[]): { file: string; privateKey: KeyObject } {
  const pem = openssl(['genpkey', ...options]);
  return { file: fileOf(pem), privateKey: createPrivateKey(pem) };
}

/** @returns where a DSA key is, which OpenSSL makes from parameters; larger ones take it seconds */
export function dsaKeyFile(): string {
  const sizes = ['-pkeyopt', 'dsa_paramgen_bits:1024', '-pkeyopt', 'dsa_paramgen_q_bits:160'];
  const parameters = openssl(['genpkey', '-genparam', '-algorithm', 'DSA', ...sizes]);
  return makeKey('-paramfile', fileOf(parameters)).file;
}

/** Of something with an Ed448 key, as if that were of a type that OpenSSL does not know: as Ed448 is to BoringSSL. */
export function withUnknownType(der: Buffer): Buffer {
  const hex = der.toString('hex');
  return Buffer.from(hex.replaceAll('06032b6571', '06032b6572'), 'hex');
}
