// What a server shows to those who connect by TLS, and certificates for it to show.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Agent, get } from 'node:https';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { connect, type DetailedPeerCertificate } from 'node:tls';
import { eventually } from './eventually.ts';

export interface PemFiles {
  certificate: string;
  key: string;
}

/** Self-signed, for localhost and 127.0.0.1, for two days. */
export function makePemFiles(folder: string, name: string): PemFiles {
  const [certificate, key] = [join(folder, `${name}-cert.pem`), join(folder, `${name}-key.pem`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'];
  const files = ['-keyout', key, '-out', certificate];
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  execFileSync('openssl', ['req', '-x509', ...newKey, '-days', '2', ...subject, ...files], {
    stdio: 'ignore',
  });
  return { certificate, key };
}

export function fingerprintIn(certificateFile: string): string {
  return new X509Certificate(readFileSync(certificateFile)).fingerprint256;
}

/** What a new connection is shown, whoever issued it: the server's own certificate, and all that came with it. */
export function shownCertificates(api: string): Promise<X509Certificate[]> {
  const { hostname, port } = new URL(api);
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      const chain: X509Certificate[] = [];
      let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true);
      while (next?.raw && !chain.some(({ raw }) => raw.equals(next!.raw))) {
        chain.push(new X509Certificate(next.raw));
        next = next.issuerCertificate;
      }
      socket.destroy();
      resolve(chain);
    });
    socket.once('error', reject);
  });
}

export async function shownCertificate(api: string): Promise<X509Certificate> {
  const [own] = await shownCertificates(api);
  if (!own) throw new Error('no certificate was shown');
  return own;
}

/** Waits until new connections are shown another certificate than this one. */
export function shownInstead(api: string, { fingerprint256 }: X509Certificate): Promise<X509Certificate> {
  return eventually(async () => {
    const own = await shownCertificate(api);
    if (own.fingerprint256 === fingerprint256) throw new Error('the same certificate is still shown');
    return own;
  });
}

export interface SecureReply {
  body: unknown;
  /** Whether the connection was there before. */
  reused: boolean;
}

/** @param servername instead of the address that is dialled */
export function secureGet(url: string, agent: Agent, servername?: string): Promise<SecureReply> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent, ...(servername === undefined ? {} : { servername }) }, (response) => {
      json(response).then((body) => resolve({ body, reused: request.reusedSocket }), reject);
    });
    request.on('error', reject);
  });
}
