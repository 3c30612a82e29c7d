// nginx with the shipped configuration in front of servers of this machine.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { configurationOf, runNginx } from '../webhooks/nginx.ts';
import { temporaryDirectory } from './server-process.ts';

interface Limits {
  /** How many seconds a server may take for a call that changes nothing, until it is made on another one. */
  perServer?: number;
  /** How many seconds it goes on like this. */
  perCall?: number;
}

const SITE = resolve(import.meta.dirname, '../../packaging/cluster/nginx.conf');

/**
 * Starts nginx with `packaging/cluster/nginx.conf`, with other addresses and without TLS.
 * @param upstreams the ports of its three servers
 * @param limits the shipped ones unless given
 * @returns ends it
 */
export async function startClusterProxy(
  upstreams: readonly (number | string)[],
  port: number,
  { perServer = 4, perCall = 10 }: Limits = {},
): Promise<() => Promise<void>> {
  const folder = temporaryDirectory('nginx');
  mkdirSync(join(folder, 'logs'));
  const site = readFileSync(SITE, 'utf8')
    .replaceAll(/server-(\d):8787/gu, (_, number: string) => `127.0.0.1:${upstreams[Number(number) - 1]}`)
    .replaceAll('proxy_read_timeout 4s', `proxy_read_timeout ${perServer}s`)
    .replaceAll('proxy_next_upstream_timeout 10s', `proxy_next_upstream_timeout ${perCall}s`)
    .replaceAll(/^\s*ssl_certificate.*\n/gmu, '')
    .replace('443 ssl', `127.0.0.1:${port}`);
  writeFileSync(
    join(folder, 'nginx.conf'),
    configurationOf(folder, [`error_log ${folder}/error.log;`, site]),
  );
  return runNginx(folder, port);
}
