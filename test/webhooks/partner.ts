// A partner's view of the product: webhooks registered over HTTP, and what becomes of their deliveries.
import { setTimeout as delay } from 'node:timers/promises';
import type {
  AttemptObject,
  DeliveryObject,
  WebhookObject,
} from '#server/features/webhooks/webhook-contract.ts';
import type { ServerProcess } from '../helpers/server-process.ts';
import type { TestServer } from '../helpers/test-server.ts';
import type { PythonReceiver } from './python-receiver.ts';

type AnyServer = Pick<TestServer | ServerProcess, 'admin' | 'post'>;

export interface Registered {
  webhook: WebhookObject;
  secret: string;
}

/** Each look may list hundreds of deliveries, and takes time from those who deliver them. */
const LOOK_AGAIN_MS = 50;
const WAIT_MS = 120_000;

export function webhookFlags(receiver: PythonReceiver, backoffSeconds: number): Record<string, string> {
  return {
    'webhook-allow': '127.0.0.0/8',
    'webhook-ca': receiver.caFile,
    'webhook-backoff-seconds': String(backoffSeconds),
  };
}

/** Registers over HTTP as an administrator's script would. */
export async function registerWebhook(
  { admin, post }: AnyServer,
  url: string,
  scope: string = 'all',
): Promise<Registered> {
  const { api_token } = await admin.createApiToken({ name: 'Partner care', role: 'admin' });
  const headers = { authorization: `Bearer ${api_token}` };
  const { status, body } = await post('/webhooks/register/', { url, scope }, headers);
  if (status !== 200) throw new Error(`not registered: ${JSON.stringify(body)}`);
  return body as Registered;
}

/** Registers a path of the receiver, which verifies from now on. */
export async function registerPath(
  server: AnyServer,
  receiver: PythonReceiver,
  path: string,
  scope?: string,
): Promise<Registered> {
  const registered = await registerWebhook(server, receiver.url(path), scope);
  await receiver.configure(path, { secrets: [registered.secret] });
  return registered;
}

/** Looks again and again, until there is something. */
export async function lookUntil<Result>(look: () => Promise<Result | undefined>): Promise<Result> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    const result = await look();
    if (result !== undefined) return result;
    if (performance.now() > deadline) throw new Error(`not within ${WAIT_MS / 1000} s: ${look.toString()}`);
    await delay(LOOK_AGAIN_MS);
  }
}

/** The webhook's deliveries, newest first, as soon as `areReady`. */
export function deliveriesOnce(
  { admin }: AnyServer,
  { webhook }: Pick<Registered, 'webhook'>,
  areReady: (deliveries: DeliveryObject[]) => boolean,
): Promise<DeliveryObject[]> {
  return lookUntil(async () => {
    const { items } = await admin.listDeliveries({ webhook_id: webhook.id, limit: 500 });
    return areReady(items) ? items : undefined;
  });
}

/** The webhook's deliveries once there are `count`, all in that state. */
export function allIn(
  server: AnyServer,
  registered: Pick<Registered, 'webhook'>,
  status: DeliveryObject['status'],
  count: number,
): Promise<DeliveryObject[]> {
  return deliveriesOnce(
    server,
    registered,
    (items) => items.length === count && items.every((delivery) => delivery.status === status),
  );
}

/** The delivery's attempts, newest first, once the server has written down as many. */
export function attemptsOnce({ admin }: AnyServer, id: number, count: number): Promise<AttemptObject[]> {
  return lookUntil(async () => {
    const { attempts } = await admin.showDelivery({ id });
    return attempts.length >= count ? attempts : undefined;
  });
}
