// cfssl as a peer: signs the same requests with an authority of the same key type, with or without a database.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureCommands } from '../../scripts/debian-packages.mjs';
import { freePort } from '../helpers/free-ports.ts';
import { countStored, createCfsslDatabase } from './cfssl-database.ts';
import { postAllAlong } from './keep-alive-client.ts';
import { type Peer, startPeer } from './peer-process.ts';

const CONFIG = { signing: { default: { usages: ['signing', 'client auth'], expiry: '8760h' } } };

interface Order {
  /** `openssl req -newkey` */
  newKey: readonly string[];
  csr: string;
  callers: number;
  /** Of all rounds together. */
  seconds: number;
  /** A folder on the disk that the service's database is on. Without it, cfssl has no database. */
  storeIn?: string;
}

/** @returns null if cfssl cannot be installed */
export async function startCfssl(order: Order): Promise<Peer | null> {
  const { newKey, csr, callers, seconds, storeIn } = order;
  if ((await ensureCommands({ cfssl: ['golang-cfssl'] })).length > 0) return null;
  const folder = mkdtempSync(join(storeIn ?? tmpdir(), 'license-desk-cfssl-'));
  const file = (name: string) => join(folder, name);
  const [key, ca, config] = [file('key'), file('ca'), file('config')];
  const subject = ['-subj', '/CN=Bench CA', '-days', '30', '-keyout', key, '-out', ca];
  execFileSync('openssl', ['req', '-x509', ...newKey, '-nodes', ...subject], { stdio: 'ignore' });
  writeFileSync(config, JSON.stringify(CONFIG));
  const database = storeIn === undefined ? null : file('certificates.db');
  const flags = ['-ca', ca, '-ca-key', key, '-config', config, '-loglevel', '5'];
  if (database !== null) {
    writeFileSync(file('db-config'), JSON.stringify(createCfsslDatabase(database)));
    flags.push('-db-config', file('db-config'));
  }
  const port = String(await freePort());
  const url = `http://127.0.0.1:${port}/api/v1/cfssl/sign`;
  const body = { certificate_request: csr };
  let signed = 0;
  const peer = await startPeer({
    command: 'cfssl',
    args: ['serve', '-port', port, ...flags],
    folder,
    async callOnce() {
      const reply = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
      if (!reply.ok) throw new Error(`cfssl answered ${reply.status}: ${await reply.text()}`);
      signed += 1;
    },
    async calls(isOver) {
      const replies = await postAllAlong(callers, url, () => body, isOver);
      signed += replies.length;
      return replies;
    },
    seconds,
  });
  return {
    ...peer,
    async stop() {
      const stored = database === null ? signed : countStored(database);
      await peer.stop();
      if (stored !== signed) throw new Error(`cfssl signed ${signed} certificates and stored ${stored}`);
    },
  };
}
