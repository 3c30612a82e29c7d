// etcd as a peer: a lease and a key that is created under it if it is absent, each on disk before its reply.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureCommands } from '../../scripts/debian-packages.mjs';
import { freePort } from './free-port.ts';
import { createClient, type Reply } from './keep-alive-client.ts';
import { CONNECTIONS, measureCalls, type Writes } from './measure-writes.ts';
import { treeCpuMs } from './process-tree.ts';

const READY_ATTEMPTS = 200;
const READY_EVERY_MS = 50;

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** @returns null if etcd cannot be installed @param folder on the disk that the database is on */
export async function measureEtcd(folder: string, seconds: number): Promise<Writes | null> {
  if ((await ensureCommands({ etcd: ['etcd-server'] })).length > 0) return null;
  const [clients, peers] = [await freePort(), await freePort()];
  const address = `http://127.0.0.1:${clients}`;
  const peer = `http://127.0.0.1:${peers}`;
  const dataDir = mkdtempSync(join(folder, 'etcd-'));
  const words = ['--data-dir', dataDir, '--listen-client-urls', address, '--advertise-client-urls', address];
  const peering = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer];
  const cluster = ['--initial-cluster', `default=${peer}`, '--log-level', 'error'];
  const child = spawn('etcd', [...words, ...peering, ...cluster], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const client = createClient(CONNECTIONS);
  let key = 0;

  async function checkOut(): Promise<Pick<Reply, 'sentAt' | 'endedAt'>> {
    const granted = await client.post(`${address}/v3/lease/grant`, { TTL: 600 });
    const { ID: lease } = JSON.parse(granted.body) as { ID: string };
    const name = base64(`seat-${(key += 1)}`);
    const created = await client.post(`${address}/v3/kv/txn`, {
      compare: [{ key: name, target: 'CREATE', create_revision: '0' }],
      success: [{ request_put: { key: name, value: base64('held'), lease } }],
    });
    if (!(JSON.parse(created.body) as { succeeded?: boolean }).succeeded)
      throw new Error(`etcd answered ${created.status}: ${created.body}`);
    return { sentAt: granted.sentAt, endedAt: created.endedAt };
  }

  try {
    for (let attempt = 0; ; attempt += 1) {
      const isReady = await checkOut().then(
        () => true,
        () => false,
      );
      if (isReady) break;
      if (attempt === READY_ATTEMPTS) throw new Error('etcd did not get ready');
      await sleep(READY_EVERY_MS);
    }
    return await measureCalls(
      { server: { cpuMs: () => treeCpuMs(child.pid as number) }, seconds },
      async (isOver) => {
        const calls: Pick<Reply, 'sentAt' | 'endedAt'>[] = [];
        const caller = async () => {
          while (!isOver()) calls.push(await checkOut());
        };
        await Promise.all(Array.from({ length: CONNECTIONS }, caller));
        return calls;
      },
    );
  } finally {
    client.close();
    child.kill('SIGTERM');
    await exited;
    rmSync(dataDir, { recursive: true, force: true });
  }
}
