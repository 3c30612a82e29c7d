// Certificates from signing requests, under an authority of either key type, beside cfssl and what OpenSSL signs at most.
// Under a P-256 authority, a signature takes so little time that two more peers show what the rest goes into.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuthorityKeyType } from '#server/features/certificates/certificate-state-contract.ts';
import { backOfficeOf } from '../helpers/back-office-of.ts';
import { type ChildServer, startBenchServer } from './child-server.ts';
import { postAllAlong, type Reply } from './keep-alive-client.ts';
import { startCfssl } from './measure-cfssl.ts';
import { callers } from './measure-writes.ts';
import type { Peer } from './peer-process.ts';
import { besidePeers, type Comparison, ROUNDS, type Summary } from './rounds.ts';
import { opensslSignsPerSecond } from './run.ts';

const CALLERS = 16;

/** Keys of requests: what is common under an authority of each type. */
const KEYS = {
  'rsa-3072': { authority: ['-newkey', 'rsa:3072'], request: ['-newkey', 'rsa:2048'], signer: 'rsa3072' },
  'p-256': {
    authority: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    request: ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
    signer: 'ecdsap256',
  },
} as const;

interface Setup {
  server: ChildServer;
  dataDir: string;
  /** Of licenses that certificates are issued for. */
  keys: readonly string[];
  seconds: number;
  /** Besides cfssl. */
  besideOthers?: boolean;
  /** Fewer, where other processes of the same server are measured, too. */
  rounds?: number;
  /** Gets the replies of each round. */
  onReplies?: (replies: readonly Reply[]) => void;
}

/** cfssl, cfssl with a database on the same disk, and `node:http` that only verifies and signs. */
export type IssuePeer = 'cfssl' | 'storingCfssl' | 'bareSigner';

export interface IssueMeasurements {
  issued: Summary;
  /** Null for what was not measured: cfssl that cannot be installed, and other peers than were asked for. */
  beside: Record<IssuePeer, Comparison | null>;
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

interface Issue {
  dataDir: string;
  seconds: number;
  csr: string;
  nextBody: () => object;
  besideOthers: boolean;
}

async function startBareSigner({ dataDir, seconds, nextBody }: Issue): Promise<Peer> {
  const server = await startBenchServer('bare-signer.ts', dataDir);
  const calls = callers({ server, seconds }, (isOver) => postAllAlong(CALLERS, server.api, nextBody, isOver));
  return { ...calls, stop: () => server.stop() };
}

async function startPeers(keyType: AuthorityKeyType, issue: Issue): Promise<Record<IssuePeer, Peer | null>> {
  const { csr, seconds, dataDir, besideOthers } = issue;
  const order = { newKey: KEYS[keyType].authority, csr, callers: CALLERS, seconds };
  const cfssl = await startCfssl(order);
  if (!besideOthers) return { cfssl, storingCfssl: null, bareSigner: null };
  const storingCfssl = await startCfssl({ ...order, storeIn: dataDir });
  return { cfssl, storingCfssl, bareSigner: await startBareSigner(issue) };
}

export async function measureIssue(keyType: AuthorityKeyType, setup: Setup): Promise<IssueMeasurements> {
  const { server, dataDir, keys, seconds, besideOthers = false, rounds = ROUNDS, onReplies } = setup;
  const { admin } = backOfficeOf(dataDir);
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
    onReplies?.(replies);
    return replies;
  });
  const peers = await startPeers(keyType, { csr, seconds, dataDir, nextBody: order, besideOthers });
  const { ours, comparisons } = await besidePeers(issue, peers, { rounds });
  for (const peer of Object.values(peers)) await peer?.stop();
  return {
    issued: ours,
    beside: comparisons,
    opensslSignsPerSecond: opensslSignsPerSecond(KEYS[keyType].signer),
  };
}
