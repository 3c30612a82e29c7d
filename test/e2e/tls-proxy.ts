// A reverse proxy with TLS on loopback, which passes requests on as they are.
import { once } from 'node:events';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';

export interface TlsProxy {
  port: number;
  /** @param origin where requests go from now on */
  passTo(origin: string): void;
  close(): Promise<void>;
}

export async function startTlsProxy(): Promise<TlsProxy> {
  const authority = new CertificateAuthority();
  const identity = authority.issue({});
  authority.remove();
  let target = '';
  const server = createServer(identity, (incoming, outgoing) => {
    const { url, method, headers } = incoming;
    const onward = request(target + url, { method, headers, agent: false }, (reply) => {
      outgoing.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(outgoing);
    });
    // Either side may leave a live stream.
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    passTo(origin) {
      target = origin;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
