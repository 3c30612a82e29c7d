// Receives every webhook delivery of a run, and remembers what came when.
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { temporaryDirectory } from '../../helpers/server-process.ts';
import { CertificateAuthority } from '../../webhooks/certificate-authority.ts';

export interface ReceivedDelivery {
  /** In `performance.now()` time, each time it came. */
  times: number[];
  /** Of the body and the event's ID; the same each time unless something is wrong. */
  digests: Set<string>;
}

export interface DeliveryReceiver {
  url: string;
  /** For `--webhook-ca`. */
  caFile: string;
  /** By the delivery's ID. */
  received: ReadonlyMap<number, ReceivedDelivery>;
  /** How many had a wrong signature. */
  unverified(): number;
  verifyWith(secret: string): void;
  close(): void;
}

export async function startDeliveryReceiver(): Promise<DeliveryReceiver> {
  const authority = new CertificateAuthority();
  const identity = authority.issue({});
  const caFile = join(temporaryDirectory('receiver'), 'ca.pem');
  writeFileSync(caFile, authority.cert);
  authority.remove();
  const received = new Map<number, ReceivedDelivery>();
  let secret = '';
  let unverified = 0;

  function note(headers: NodeJS.Dict<string | string[]>, body: Buffer): void {
    const signature = createHmac('sha256', secret).update(body).digest('hex');
    if (headers['x-license-webhook-signature'] !== `sha256=${signature}`) unverified += 1;
    const id = Number(headers['x-license-delivery']);
    const known = received.get(id) ?? { times: [], digests: new Set<string>() };
    known.times.push(performance.now());
    known.digests.add(createHash('sha256').update(`${headers['webhook-id']} `).update(body).digest('hex'));
    received.set(id, known);
  }

  const server = createServer(identity, (request, response) => {
    buffer(request).then(
      (body) => {
        note(request.headers, body);
        response.writeHead(204).end();
      },
      // A server that was killed in the middle of a delivery.
      () => {},
    );
  });
  server.on('tlsClientError', () => {});
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    caFile,
    received,
    unverified: () => unverified,
    verifyWith(given) {
      secret = given;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
