// cfssl as a peer: signs the same requests with an authority of the same key type, without a database.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCommands } from '../../scripts/debian-packages.mjs';
import { postAllAlong } from './keep-alive-client.ts';
import { freePort, type Peer, startPeer } from './peer-process.ts';

const CONFIG = { signing: { default: { usages: ['signing', 'client auth'], expiry: '8760h' } } };

interface Order {
  /** `openssl req -newkey` */
  newKey: readonly string[];
  csr: string;
  callers: number;
  /** Of all rounds together. */
  seconds: number;
}

/** @returns null if cfssl cannot be installed */
export async function startCfssl({ newKey, csr, callers, seconds }: Order): Promise<Peer | null> {
  if ((await ensureCommands({ cfssl: ['golang-cfssl'] })).length > 0) return null;
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-cfssl-'));
  const [key, ca, config] = ['key', 'ca', 'config'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const subject = ['-subj', '/CN=Bench CA', '-days', '30', '-keyout', key, '-out', ca];
  execFileSync('openssl', ['req', '-x509', ...newKey, '-nodes', ...subject], { stdio: 'ignore' });
  writeFileSync(config, JSON.stringify(CONFIG));
  const port = String(await freePort());
  const files = ['-ca', ca, '-ca-key', key, '-config', config];
  const url = `http://127.0.0.1:${port}/api/v1/cfssl/sign`;
  const body = { certificate_request: csr };
  return startPeer({
    command: 'cfssl',
    args: ['serve', '-port', port, ...files, '-loglevel', '5'],
    folder,
    async callOnce() {
      const reply = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      if (!reply.ok) throw new Error(`cfssl answered ${reply.status}: ${await reply.text()}`);
    },
    calls: (isOver) => postAllAlong(callers, url, () => body, isOver),
    seconds,
  });
}
