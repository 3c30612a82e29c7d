// The runtime file of a server that was killed. Any program of the machine may listen on its port since then: it gets no
// requests, because those hold passphrases and keys, and its answers would be believed.
import { once } from 'node:events';
import { chownSync, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { writeRuntimeFile } from '#server/installation/runtime-file.ts';
import { connectToResident } from '../../electron/resident-client.ts';
import { cliOn } from '../helpers/cli.ts';
import { serveToEnd, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const UID = 54_321;

interface Impostor {
  port: number;
  /** What it was sent. */
  requests: string[];
}

/** A program of another user, which answers every call like a server. */
async function impostorOn(dataDir: string): Promise<Impostor> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    response.end('{"ok":true,"items":[],"next_cursor":null,"address":"http://127.0.0.1:1/?code=x"}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const admin = `http://127.0.0.1:${port}`;
  writeRuntimeFile(dataDir, { pid: 999_999, version: '0.1.0', api: admin, admin, secret: 'secret' });
  return { port, requests };
}

async function usedDirectory(): Promise<string> {
  const dataDir = temporaryDirectory();
  await cliOn(dataDir).ok('license', 'create', '--holder', 'Acme');
  return dataDir;
}

it('is removed by the next command, which works on the database', async () => {
  const dataDir = await usedDirectory();
  const { requests } = await impostorOn(dataDir);
  expect((await cliOn(dataDir).ok<{ items: object[] }>('license', 'list')).items).toHaveLength(1);
  expect(requests).toEqual([]);
  expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
});

it('is removed by the next start, even if that fails because the port is taken', async () => {
  const dataDir = await usedDirectory();
  const { port } = await impostorOn(dataDir);
  expect((await serveToEnd({ dataDir, flags: { 'admin-port': String(port) } })).code).toBe(1);
  expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
});

it('does not make doctor ask what listens there', async () => {
  const dataDir = await usedDirectory();
  const { requests } = await impostorOn(dataDir);
  const { checks } = await cliOn(dataDir).ok<{ checks: object[] }>('doctor');
  const detail = 'not running; process 999999 did not stop cleanly';
  expect(checks).toContainEqual({ check: 'server', ok: true, detail });
  expect(requests).toEqual([]);
});

it('does not make the desktop app open what listens there', async () => {
  const dataDir = await usedDirectory();
  const { requests } = await impostorOn(dataDir);
  expect(await connectToResident(dataDir)).toBeNull();
  expect(requests).toEqual([]);
  const server = await startServerProcess({ dataDir });
  expect(await connectToResident(dataDir)).toMatchObject({ id: server.runtimeSecret });
});

it.skipIf(process.getuid?.() !== 0)('does not send what root enters to what listens there', async () => {
  const dataDir = await usedDirectory();
  for (const path of [dirname(dataDir), dataDir, join(dataDir, 'server.lock')]) chownSync(path, UID, UID);
  const { requests } = await impostorOn(dataDir);
  const { message } = await cliOn(dataDir).fails('license', 'list');
  expect(message).toContain(`belongs to the user #${UID}`);
  expect(requests).toEqual([]);
});
