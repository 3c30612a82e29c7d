// nginx with the shipped configuration for several servers, and the back office turned on.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join, resolve } from 'node:path';
import { freePorts } from '../helpers/free-ports.ts';
import { listening, type LiveClient } from '../helpers/live-client.ts';
import { httpCall, type RawReply } from '../helpers/raw-http.ts';
import type { Reply, TestServer } from '../helpers/test-server.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';
import { newReceiverFolder } from '../webhooks/foreign-receiver.ts';
import { configurationOf, runNginx } from '../webhooks/nginx.ts';

const SITE = resolve(import.meta.dirname, '../../packaging/cluster/nginx.conf');
/** The name in the configuration. */
export const DESK = 'desk.example.com';
/** Of loopback, but different from where nginx connects from. */
export const ADMINISTRATOR = '127.0.0.9';

/** The file once its last part is no longer a comment, as its text says. */
export function withBackOffice(site: string): string {
  return site.replaceAll(/^#(?! \S)/gmu, '');
}

interface Call {
  method?: string;
  headers?: Record<string, string>;
  body?: object;
}

export interface BackOfficeProxy {
  /** What a browser of an administrator gets. */
  open(path: string, headers?: Record<string, string>): Promise<RawReply>;
  /** A call of the page below `/admin/api`, with the Origin that browsers send. */
  call(path: string, call?: Call): Promise<Reply>;
  live(cookie: string): Promise<LiveClient>;
  /** From an address that the configuration does not admit. */
  stranger(path: string): Promise<RawReply>;
}

/** @param isSticky whether each administrator stays with one server, as in the shipped file */
export async function startBackOfficeProxy(
  servers: readonly TestServer[],
  isSticky: boolean,
): Promise<BackOfficeProxy> {
  const authority = new CertificateAuthority();
  const { cert, key } = authority.issue({ altNames: [`DNS:${DESK}`, 'DNS:licenses.example.com'] });
  authority.remove();
  const folder = newReceiverFolder();
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, 'site.pem'), cert);
  writeFileSync(join(folder, 'site.key'), key);
  const [port = 0, closedPort = 0] = await freePorts(2);
  const addressOf = (number: string, which: 'api' | 'adminOrigin') => {
    const server = servers[Number(number) - 1];
    return server ? new URL(server[which]).host : `127.0.0.1:${closedPort}`;
  };
  const site = withBackOffice(readFileSync(SITE, 'utf8'))
    .replaceAll(/server-(\d):8787/gu, (_, number: string) => addressOf(number, 'api'))
    .replaceAll(/server-(\d):8788/gu, (_, number: string) => addressOf(number, 'adminOrigin'))
    .replaceAll(/\/etc\/nginx\/tls\/\w+\.(pem|key)/gu, `${folder}/site.$1`)
    .replaceAll('443 ssl', `127.0.0.1:${port} ssl`)
    .replace('allow 10.20.0.0/16', `allow ${ADMINISTRATOR}`)
    .replace('    deny  all;', '    deny  all;\n    add_header X-Served-By $upstream_addr always;')
    .replace('    ip_hash;\n', isSticky ? '    ip_hash;\n' : '');
  writeFileSync(join(folder, 'nginx.conf'), configurationOf(folder, [site]));
  await runNginx(folder, port);

  const origin = `https://127.0.0.1:${port}`;
  const agentFrom = (localAddress: string) =>
    new Agent({ ca: authority.cert, servername: DESK, localAddress });
  const agent = agentFrom(ADMINISTRATOR);
  return {
    open: (path, headers = {}) => httpCall(origin + path, { headers: { host: DESK, ...headers }, agent }),
    async call(path, { method = 'GET', headers = {}, body } = {}) {
      const sent = {
        host: DESK,
        ...(method === 'GET' ? {} : { origin: `https://${DESK}`, 'content-type': 'application/json' }),
        ...headers,
      };
      const { text, ...reply } = await httpCall(`${origin}/admin/api${path}`, {
        method,
        headers: sent,
        agent,
        ...(method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) }),
      });
      return { ...reply, body: JSON.parse(text) as unknown };
    },
    live: (cookie) => listening({ adminOrigin: origin, runtimeSecret: '' }, { host: DESK, cookie }, agent),
    stranger: (path) => httpCall(origin + path, { headers: { host: DESK }, agent: agentFrom('127.0.0.1') }),
  };
}
