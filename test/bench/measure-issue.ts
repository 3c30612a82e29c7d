// Certificates from signing requests, under an authority of either key type, beside cfssl and what OpenSSL signs at most.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuthorityKeyType } from '#server/features/certificates/certificate-state-contract.ts';
import type { ChildServer } from './child-server.ts';
import { postAllAlong, type Reply } from './keep-alive-client.ts';
import { startCfssl } from './measure-cfssl.ts';
import { administrationOf, callers } from './measure-writes.ts';
import { besidePeer, type Comparison, type Summary } from './rounds.ts';
import { opensslSignsPerSecond } from './run.ts';

export const CALLERS = 16;

/** Keys of requests: what is common under an authority of each type. */
const KEYS = {
  'rsa-3072': { authority: ['-newkey', 'rsa:3072'], request: ['-newkey', 'rsa:2048'], signer: 'rsa3072' },
  'p-256': {
    authority: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    request: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    signer: 'ecdsap256',
  },
} as const;

interface Surroundings {
  server: ChildServer;
  dataDir: string;
  /** Of licenses that certificates are issued for. */
  keys: readonly string[];
  seconds: number;
}

export interface IssueMeasurements {
  issued: Summary;
  /** Null if cfssl cannot be installed. */
  besideCfssl: Comparison | null;
  /** On one core. */
  opensslSignsPerSecond: number;
}

export function newSigningRequest(keyType: AuthorityKeyType): string {
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-bench-'));
  const [key, csr] = [join(folder, 'key'), join(folder, 'csr')];
  const words = ['-nodes', '-subj', '/CN=bench', '-keyout', key, '-out', csr];
  execFileSync('openssl', ['req', '-new', ...KEYS[keyType].request, ...words], { stdio: 'ignore' });
  const pem = readFileSync(csr, 'utf8');
  rmSync(folder, { recursive: true });
  return pem;
}

/** @param onReplies gets the replies of each round */
export async function measureIssue(
  keyType: AuthorityKeyType,
  { server, dataDir, keys, seconds }: Surroundings,
  onReplies: (replies: readonly Reply[]) => void = () => {},
): Promise<IssueMeasurements> {
  const { admin } = administrationOf(dataDir);
  await admin.renewAuthority({ key_type: keyType });
  const { api_token: token } = await admin.createApiToken({
    name: `bench ${Date.now()}`,
    role: 'integrator',
  });
  const headers = { authorization: `Bearer ${token}` };
  const csr = newSigningRequest(keyType);
  let next = 0;
  const order = () => {
    next += 1;
    return { license_key: keys[next % keys.length], common_name: `bench-${next}`, csr };
  };
  const issue = callers({ server, seconds }, async (isOver) => {
    const replies = await postAllAlong(CALLERS, `${server.api}certs/generate/`, order, isOver, headers);
    onReplies(replies);
    return replies;
  });
  const { authority, signer } = KEYS[keyType];
  const cfssl = await startCfssl({ newKey: authority, csr, callers: CALLERS, seconds });
  const { ours, comparison } = await besidePeer(issue, cfssl);
  await cfssl?.stop();
  return {
    issued: ours,
    besideCfssl: comparison,
    opensslSignsPerSecond: opensslSignsPerSecond(signer),
  };
}
