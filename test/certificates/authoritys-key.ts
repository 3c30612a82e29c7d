// The authority's key, as whoever has the database and the master key could take it.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Issuer, readIssuer } from '#server/features/certificates/issuer.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { selectRows } from '../helpers/database.ts';

export async function authoritysIssuer(dataDir: string): Promise<Issuer & { privateKeyDer: Buffer }> {
  const [row] = await selectRows(
    dataDir,
    `SELECT certificate, private_key_sealed AS sealed FROM certificate_authorities WHERE status = 'active'`,
  );
  const master = Buffer.from(readFileSync(join(dataDir, 'master.key'), 'utf8'), 'base64');
  const privateKeyDer = createSealer(master).open('certificate-authority', row.sealed as string);
  const { subject, keyIdentifier } = readIssuer(new X509Certificate(row.certificate as string).raw);
  return {
    subject,
    keyIdentifier: keyIdentifier!,
    privateKey: createPrivateKey({ key: privateKeyDer, format: 'der', type: 'pkcs8' }),
    privateKeyDer,
  };
}
