// Debian's nginx as the receiver of webhooks, for the time of one test file.
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from '../helpers/free-ports.ts';
import type { Identity } from './certificate-authority.ts';
import { newReceiverFolder, spawnReceiver } from './foreign-receiver.ts';

/** Not on every user's PATH. */
export const NGINX = '/usr/sbin/nginx';
const START_MS = 120_000;
const LOOK_AGAIN_MS = 20;

export interface Site {
  /** None: HTTP without TLS. */
  identity?: Identity;
  /** More lines of its `server` block. */
  lines?: string[];
}

export interface Nginx {
  /** `https://127.0.0.1:PORT/hook` */
  url(site: string): string;
  /** The ids of the deliveries that the site has answered, in their order. */
  answered(site: string): number[];
}

export function hasNginx(): boolean {
  return existsSync(NGINX);
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

/** Every path in the folder, so that neither Debian's configuration nor its logs are touched. */
export function configurationOf(folder: string, servers: string[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `  ${name}_temp_path ${folder}/${name};`,
  );
  return [
    'daemon off;',
    'master_process off;',
    `pid ${folder}/pid;`,
    'events {}',
    'http {',
    ...temporary,
    "  log_format delivery '$server_port $http_x_license_delivery';",
    `  access_log ${folder}/access.log delivery;`,
    ...servers,
    '}',
  ].join('\n');
}

function serverBlock(folder: string, name: string, port: number, { identity, lines = [] }: Site): string {
  const tls: string[] = [];
  if (identity) {
    const files = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
    writeFileSync(files.cert, identity.cert);
    writeFileSync(files.key, identity.key);
    tls.push(`ssl_certificate ${files.cert};`, `ssl_certificate_key ${files.key};`);
  }
  const own = [...tls, ...lines, 'location / { return 204; }'].join('\n    ');
  return `  server {\n    listen 127.0.0.1:${port}${identity ? ' ssl' : ''};\n    ${own}\n  }`;
}

/** On the `nginx.conf` of the folder. Waits until it listens on the port. @returns ends it */
export async function runNginx(folder: string, port: number): Promise<() => Promise<void>> {
  const child = spawnReceiver(NGINX, ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']);
  const deadline = performance.now() + START_MS;
  while (!(await isListening(port))) {
    if (child.exitCode !== null || performance.now() > deadline) throw new Error('nginx did not start');
    await delay(LOOK_AGAIN_MS);
  }
  return async () => {
    const ended = once(child, 'exit');
    if (child.exitCode === null && child.kill()) await ended;
  };
}

/** @param sites by their names, each on a separate port */
export async function startNginx(sites: Record<string, Site>): Promise<Nginx> {
  const folder = newReceiverFolder();
  const names = Object.keys(sites);
  const ports = await freePorts(names.length);
  const portOf = (site: string): number => ports[names.indexOf(site)] ?? 0;
  const servers = names.map((name) => serverBlock(folder, name, portOf(name), sites[name] ?? {}));
  writeFileSync(join(folder, 'nginx.conf'), configurationOf(folder, servers));
  await runNginx(folder, ports[0] ?? 0);
  return {
    url: (site) => `https://127.0.0.1:${portOf(site)}/hook`,
    answered: (site) =>
      readFileSync(join(folder, 'access.log'), 'utf8')
        .split('\n')
        .map((line) => line.split(' '))
        .filter(([port]) => Number(port) === portOf(site))
        .map(([, delivery]) => Number(delivery)),
  };
}
