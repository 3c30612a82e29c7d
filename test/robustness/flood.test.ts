import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { pipeline } from '../helpers/hostile-clients.ts';
import { startServerProcess } from '../helpers/server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'license-desk-flood-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function residentMegabytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+)/mu.exec(status)?.[1]) / 1024;
}

it('a flood of clients that read nothing costs little memory, and does not delay the stop', async () => {
  const server = await startServerProcess({ dataDir: join(folder, 'flooded'), flags: { 'rate-limit': '0' } });
  const path = '/license/api/svc/openapi.json';
  // The document is built, the code is loaded.
  await server.get('/openapi.json');
  const before = residentMegabytes(server.pid);
  const flood = await atOnce(30, async () => {
    const client = await pipeline(server.api, path, 2000);
    client.pause();
    return client;
  });
  for (let call = 0; call < 50; call += 1) expect((await server.get('/health/')).status).toBe(200);
  expect(residentMegabytes(server.pid) - before).toBeLessThan(150);
  const { code, stderr } = await server.kill();
  // The contract promises 5 s for every stop; one that takes longer ends with 1.
  expect(code).toBe(0);
  expect(stderr).not.toContain('error:');
  for (const client of flood) client.destroy();
});
