// etcd as a peer: a lease and a key that is created under it if it is absent, each on disk before its reply.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { ensureCommands } from '../../scripts/debian-packages.mjs';
import { freePorts } from '../helpers/free-ports.ts';
import { createClient, type Reply } from './keep-alive-client.ts';
import { CONNECTIONS } from './measure-writes.ts';
import { type Peer, startPeer } from './peer-process.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64');

/** @returns null if etcd cannot be installed @param folder on the disk that the database is on */
export async function startEtcd(folder: string, seconds: number): Promise<Peer | null> {
  if ((await ensureCommands({ etcd: ['etcd-server'] })).length > 0) return null;
  const [clients, peers] = await freePorts(2);
  const address = `http://127.0.0.1:${clients}`;
  const peer = `http://127.0.0.1:${peers}`;
  const dataDir = mkdtempSync(join(folder, 'etcd-'));
  const words = ['--data-dir', dataDir, '--listen-client-urls', address, '--advertise-client-urls', address];
  const peering = ['--listen-peer-urls', peer, '--initial-advertise-peer-urls', peer];
  const cluster = ['--initial-cluster', `default=${peer}`, '--log-level', 'error'];
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

  const started = await startPeer({
    command: 'etcd',
    args: [...words, ...peering, ...cluster],
    folder: dataDir,
    callOnce: checkOut,
    async calls(isOver) {
      const made: Pick<Reply, 'sentAt' | 'endedAt'>[] = [];
      const caller = async () => {
        while (!isOver()) made.push(await checkOut());
      };
      await Promise.all(Array.from({ length: CONNECTIONS }, caller));
      return made;
    },
    seconds,
  });
  return {
    ...started,
    async stop() {
      client.close();
      await started.stop();
    },
  };
}
