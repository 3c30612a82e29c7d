// What all parts of the load share: the cluster, how to call it, and what was found wrong.
import { type Cluster, type ClusterServer, startCluster } from '../../helpers/cluster.ts';
import type { Random } from '../random.ts';
import { createCalls, type Calls } from './calls.ts';
import { type DeliveryReceiver, startDeliveryReceiver } from './delivery-receiver.ts';

export interface Site {
  cluster: Cluster;
  /** Through nginx. */
  calls: Calls;
  receiver: DeliveryReceiver;
  /** `Bearer …` of an API token with the role `admin`. */
  authorization: string;
  failures: string[];
  isOver(): boolean;
  /** A server whose process runs, or was running a moment ago. */
  anyServer(random: Random): ClusterServer;
  /** Ends the load: each part finishes what it is doing. */
  end(): void;
  close(): Promise<void>;
}

/**
 * Starts the cluster and a receiver of all of its events.
 * @param webhookTimeoutSeconds a delivery in progress when its server dies is sent again 15 s after this time
 */
export async function startSite(webhookTimeoutSeconds: number): Promise<Site> {
  const receiver = await startDeliveryReceiver();
  const cluster = await startCluster({
    'webhook-allow': '127.0.0.0/8',
    'webhook-ca': receiver.caFile,
    'webhook-backoff-seconds': '1',
    'webhook-timeout-seconds': String(webhookTimeoutSeconds),
    'scan-seconds': '5',
  });
  const { admin } = cluster.servers[0]!.process();
  const { api_token } = await admin.createApiToken({ name: 'Load', role: 'admin' });
  const authorization = `Bearer ${api_token}`;
  const failures: string[] = [];
  const calls = createCalls(cluster.api, failures);
  const registered = await calls.post(
    '/webhooks/register/',
    { url: receiver.url, scope: 'all' },
    { authorization, 'idempotency-key': 'webhook' },
  );
  receiver.verifyWith(registered.body.secret as string);
  let isOver = false;
  return {
    cluster,
    calls,
    receiver,
    authorization,
    failures,
    isOver: () => isOver,
    anyServer: (random) => random.pick(cluster.servers),
    end() {
      isOver = true;
    },
    async close() {
      await cluster.stop();
      receiver.close();
    },
  };
}
