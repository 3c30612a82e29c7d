// cfssl as a peer: signs the same requests with an authority of the same key type, without a database.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureCommands } from '../../scripts/debian-packages.mjs';
import { freePort } from './free-port.ts';
import { createClient, postAllAlong } from './keep-alive-client.ts';
import { measureCalls, type Writes } from './measure-writes.ts';
import { treeCpuMs } from './process-tree.ts';

const READY_ATTEMPTS = 200;
const READY_EVERY_MS = 50;
const CONFIG = { signing: { default: { usages: ['signing', 'client auth'], expiry: '8760h' } } };

interface Order {
  /** `openssl req -newkey` */
  newKey: readonly string[];
  csr: string;
  callers: number;
  seconds: number;
}

/** @returns null if cfssl cannot be installed */
export async function measureCfssl({ newKey, csr, callers, seconds }: Order): Promise<Writes | null> {
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
  const child = spawn('cfssl', ['serve', '-port', port, ...files, '-loglevel', '5'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const url = `http://127.0.0.1:${port}/api/v1/cfssl/sign`;
  const body = { certificate_request: csr };
  const client = createClient(1);
  try {
    for (let attempt = 0; ; attempt += 1) {
      const reply = await client.post(url, body).catch(() => null);
      if (reply?.status === 200) break;
      if (attempt === READY_ATTEMPTS) throw new Error(`cfssl did not get ready: ${reply?.body}`);
      await sleep(READY_EVERY_MS);
    }
    const server = { cpuMs: () => treeCpuMs(child.pid as number) };
    return await measureCalls({ server, seconds }, (isOver) =>
      postAllAlong(callers, url, () => body, isOver),
    );
  } finally {
    client.close();
    child.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  }
}
