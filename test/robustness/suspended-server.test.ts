// Clients and commands that connect while the server is busy or suspended: the system keeps their connections until it goes on.
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { cliOn, documentOf, runCli } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const CLIENTS = 1000;
const ESTABLISHED = '01';
const LIMIT = '/proc/sys/net/core/somaxconn';
const hasRoom = existsSync(LIMIT) && Number(readFileSync(LIMIT, 'utf8')) >= CLIENTS;

/** Connections to this port that the system has completed for the server, accepted or not. */
function establishedAt(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const sockets = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return sockets.filter(
    (line) => line.includes(`: ${local} `) && line.trim().split(/\s+/u)[3] === ESTABLISHED,
  ).length;
}

it.skipIf(!hasRoom)('a thousand clients can connect to a suspended server', async () => {
  const server = await startServerProcess({ dataDir: temporaryDirectory(), flags: { 'rate-limit': '0' } });
  const { pathname, hostname, port } = new URL(`${server.api}/health/live/`);
  process.kill(server.pid, 'SIGSTOP');
  onTestFinished(() => void process.kill(server.pid, 'SIGCONT'));
  const replies = atOnce(CLIENTS, async () => {
    const socket = connect(Number(port), hostname);
    socket.write(`GET ${pathname} HTTP/1.1\r\nhost: ${hostname}:${port}\r\nconnection: close\r\n\r\n`);
    const [first] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    return String(first).slice(0, 12);
  });
  await expect.poll(() => establishedAt(Number(port))).toBeGreaterThanOrEqual(CLIENTS);
  process.kill(server.pid, 'SIGCONT');
  expect(new Set(await replies)).toEqual(new Set(['HTTP/1.1 200']));
});

it('commands beside a suspended server give up, and say what to do', async () => {
  const dataDir = temporaryDirectory();
  const { pid, ready } = await startServerProcess({ dataDir });
  process.kill(pid, 'SIGSTOP');
  onTestFinished(() => void process.kill(pid, 'SIGCONT'));
  const [{ message }, doctor] = await Promise.all([
    cliOn(dataDir).fails('license', 'list'),
    runCli(['doctor', '--json', '--data-dir', dataDir]),
  ]);
  const remedy = 'end that process, and start the server again';
  expect(message).toBe(
    `the data directory ${dataDir} is in use by a server (process ${pid}, ${ready.api}), which does not answer; ${remedy}`,
  );
  const { checks } = documentOf<{ checks: { check: string; ok: boolean; detail: string }[] }>(doctor);
  expect(checks.filter(({ ok }) => !ok)).toEqual([
    { check: 'server', ok: false, detail: `process ${pid} gives no answer within 5 s; ${remedy}` },
  ]);
});
