// nginx with the shipped configuration in front of servers of this machine.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { configurationOf, runNginx } from '../webhooks/nginx.ts';
import { temporaryDirectory } from './server-process.ts';

const SITE = resolve(import.meta.dirname, '../../packaging/cluster/nginx.conf');

/**
 * Starts nginx with `packaging/cluster/nginx.conf`, with other addresses and without TLS.
 * @param upstreams the ports of its three servers
 * @returns ends it
 */
export async function startClusterProxy(
  upstreams: readonly (number | string)[],
  port: number,
): Promise<() => Promise<void>> {
  const folder = temporaryDirectory('nginx');
  mkdirSync(join(folder, 'logs'));
  const site = readFileSync(SITE, 'utf8')
    .replaceAll(/server-(\d):8787/gu, (_, number: string) => `127.0.0.1:${upstreams[Number(number) - 1]}`)
    .replaceAll(/^\s*ssl_certificate.*\n/gmu, '')
    .replace('443 ssl', `127.0.0.1:${port}`);
  writeFileSync(
    join(folder, 'nginx.conf'),
    configurationOf(folder, [`error_log ${folder}/error.log;`, site]),
  );
  return runNginx(folder, port);
}
