// Node opens its debugger when it is sent SIGUSR1: to anybody on the machine who then connects, keys and all.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { SERVE, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const project = resolve(import.meta.dirname, '../..');

/** The ports that a process listens on (Linux). */
function listeningPorts(pid: number): number[] {
  const targets = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // Closed since the directory was read.
      return [];
    }
  });
  const lines = ['tcp', 'tcp6'].flatMap((table) =>
    readFileSync(`/proc/${pid}/net/${table}`, 'utf8').trim().split('\n').slice(1),
  );
  const fields = lines.map((line) => line.trim().split(/\s+/u));
  return fields
    .filter(([, , , state, , , , , , inode]) => state === '0A' && targets.includes(`socket:[${inode}]`))
    .map(([, local = '']) => Number.parseInt(local.split(':')[1] ?? '', 16));
}

it.skipIf(process.platform !== 'linux').each([
  ['the server', SERVE],
  ['the server of the desktop app', [join(project, 'server/process/main.ts')]],
  ['a server started with --disable-sigusr1', ['--disable-sigusr1', ...SERVE]],
])('%s opens no debugger', async (_name, program) => {
  const server = await startServerProcess({ dataDir: temporaryDirectory(), program });
  const ports = [server.api, server.adminOrigin].map((url) => Number(new URL(url).port));
  for (let signal = 0; signal < 10; signal += 1) {
    process.kill(server.pid, 'SIGUSR1');
    expect((await server.get('/health/')).status).toBe(200);
  }
  expect(listeningPorts(server.pid).toSorted()).toEqual(ports.toSorted());
  const { code, stderr } = await server.kill();
  expect(code).toBe(0);
  expect(stderr).not.toMatch(/debugger|inspector/iu);
});
