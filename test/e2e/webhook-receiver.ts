// A partner on loopback, over HTTPS with a certificate of a private authority.
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { test as base } from './test.ts';

interface Received {
  event: string;
  delivery: string;
  body: string;
}

export interface WebhookReceiver {
  /** `127.0.0.1:PORT` */
  host: string;
  url: string;
  caFile: string;
  /** What came in so far. */
  received: Received[];
  /** What it says from now on. */
  answer(status: number, body: string): void;
  close(): Promise<void>;
}

async function startReceiver(): Promise<WebhookReceiver> {
  const authority = new CertificateAuthority();
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-receiver-'));
  const caFile = join(folder, 'ca.pem');
  writeFileSync(caFile, authority.cert);
  const received: Received[] = [];
  let answer = { status: 200, body: 'thanks' };
  const server = createServer(authority.issue({}), async (request, response) => {
    const header = (name: string) => String(request.headers[name] ?? '');
    const body = await text(request);
    received.push({ event: header('x-license-event'), delivery: header('x-license-delivery'), body });
    response.writeHead(answer.status, { 'content-type': 'text/plain' }).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    url: `https://${host}/hook`,
    caFile,
    received,
    answer(status, body) {
      answer = { status, body };
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
      authority.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Retries follow each other within a tenth of a second, so that an event fails while one looks. */
const FAST = ['--webhook-backoff-seconds', '0.01'];

/** Playwright's `test` with a receiver that the server may reach and trusts. */
export const test = base.extend<{ receiver: WebhookReceiver }>({
  // oxlint-disable-next-line no-empty-pattern -- Playwright reads the names of the fixtures from here
  receiver: async ({}, use) => {
    const receiver = await startReceiver();
    await use(receiver);
    await receiver.close();
  },
  serverFlags: ({ receiver }, use) =>
    use(['--webhook-allow', '127.0.0.0/8', '--webhook-ca', receiver.caFile, ...FAST]),
});
