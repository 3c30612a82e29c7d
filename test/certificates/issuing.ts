// What tests of the certificate endpoints share: signing requests, orders, and what OpenSSL is to look at.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { newLicense, unique } from '../helpers/contract-calls.ts';
import type { TestServer } from '../helpers/test-server.ts';
import { fileOf, openssl, verifyErrors } from './openssl.ts';

export interface SigningRequest {
  csr: string;
  /** PEM. */
  key: string;
  privateKey: KeyObject;
}

/** @param options more words for `openssl req` */
export function newSigningRequest(...options: string[]): SigningRequest {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', '-'];
  const text = openssl(['req', '-new', ...key, '-subj', '/CN=whoever', ...options]);
  const [pem = '', csr = ''] = text.split(/(?<=-----END PRIVATE KEY-----\n)/u);
  return { csr, key: pem, privateKey: createPrivateKey(pem) };
}

/** Made once: keys take their time. */
export const REQUEST = newSigningRequest();

type Order = Parameters<TestServer['admin']['generateCertificate']>[0];
export type Issued = Awaited<ReturnType<TestServer['admin']['generateCertificate']>>;

/** A certificate for the key of `REQUEST`, and for a new license, unless `order` says otherwise. */
export async function issue(
  { admin }: Pick<TestServer, 'admin'>,
  order: Partial<Order> = {},
): Promise<Issued> {
  const named = order.license_id !== undefined || order.license_key !== undefined;
  const license = named ? {} : { license_id: (await newLicense({ admin } as TestServer)).license_id };
  return admin.generateCertificate({
    ...license,
    common_name: unique('client'),
    csr: REQUEST.csr,
    ...order,
  });
}

/** The same with a key made by the server; null cannot stand for a CSR that is left out. */
export async function issueWithKey(server: TestServer, order: Partial<Order> = {}) {
  const { license_id } = await newLicense(server);
  const issued = await server.admin.generateCertificate({
    license_id,
    common_name: unique('client'),
    ...order,
  });
  return issued as Issued & { download_token: string; download_url: string; download_expires_at: string };
}

/** The certificates of a PEM file, in their order. */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}

/** The serial numbers that the list has, read by OpenSSL. */
export function serialsIn(der: Buffer): string[] {
  const shown = openssl(['crl', '-inform', 'DER', '-noout', '-text'], der);
  return [...shown.matchAll(/^ {4}Serial Number: ([\dA-F]+)$/gmu)].map(([, serial = '']) =>
    serial.toLowerCase(),
  );
}

interface Verification {
  authority: string;
  certificate: string;
  /** PEM. */
  list: Buffer;
  /** Epoch milliseconds. */
  at: number;
  purpose?: 'sslclient' | 'sslserver';
}

/** The codes of what OpenSSL has against a client certificate, none if it is good. */
export function clientErrors({ authority, certificate, list, at, purpose = 'sslclient' }: Verification) {
  const files = ['-CAfile', fileOf(authority), '-CRLfile', fileOf(list), fileOf(certificate)];
  return verifyErrors(['-purpose', purpose, '-crl_check', ...files], at);
}
