// Authorities that OpenSSL makes, as a company may have them already.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { openssl } from './openssl.ts';

export interface ForeignAuthority {
  /** PEM. */
  certificate: string;
  /** PEM. */
  key: string;
  keyFile: string;
  certificateFile: string;
}

interface Order {
  /** `/C=CZ/O=Acme/CN=Acme Root` */
  subject: string;
  days?: number;
  extensions?: string[];
  /** Of an authority whose key this one is to have. */
  keyFile?: string;
  /** Who signs it; itself unless given. */
  signer?: ForeignAuthority;
  key?: string[];
}

/** PrintableString wherever a name allows it, as older authorities have it. */
const CONFIG = '[req]\ndistinguished_name = dn\nstring_mask = default\n[dn]\n';
const RSA = ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'];

export const AUTHORITY_EXTENSIONS = [
  'basicConstraints=critical,CA:TRUE',
  'keyUsage=critical,keyCertSign,cRLSign',
  'subjectKeyIdentifier=hash',
];

export function makeForeignAuthority(order: Order): ForeignAuthority {
  const { subject, days = 3650, extensions = AUTHORITY_EXTENSIONS, signer, key = RSA } = order;
  const folder = temporaryDirectory('authority');
  const file = (name: string, content: string) => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const config = file('openssl.cnf', CONFIG);
  const keyFile = order.keyFile ?? file('key.pem', openssl(['genpkey', ...key]));
  const request = ['req', '-new', '-config', config, '-key', keyFile, '-subj', subject];
  const issuer = signer ? ['-CA', signer.certificateFile, '-CAkey', signer.keyFile] : ['-signkey', keyFile];
  const extensionFile = file('extensions.cnf', `${extensions.join('\n')}\n`);
  const certificate = openssl(
    ['x509', '-req', '-days', String(days), '-extfile', extensionFile, '-sha256', ...issuer],
    openssl(request),
  );
  return {
    certificate,
    key: openssl(['pkey', '-in', keyFile]),
    keyFile,
    certificateFile: file('certificate.pem', certificate),
  };
}
