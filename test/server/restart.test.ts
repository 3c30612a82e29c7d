// A restart from the back office, under something that starts the server again: the message port of the desktop app.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const root = join(import.meta.dirname, '../..');
const program = [
  '--import',
  join(root, 'test/electron/stand-in/parent-port.ts'),
  join(root, 'server/process/main.ts'),
];

it('ends the server once it has answered, unless the next start would be refused', async () => {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir, program });
  expect(await server.admin.showSettings({})).toMatchObject({
    restart: true,
    restart_advice: expect.stringContaining('restart of the server') as string,
  });

  writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 0 }');
  await expect(server.admin.restartServer({})).rejects.toThrow('the server would not start: scan_seconds');

  await server.admin.updateSettings({ changes: { scan_seconds: 90 } });
  expect(await server.admin.restartServer({})).toMatchObject({ restarting: true });
  expect(await server.ended).toMatchObject({ code: 0 });

  const next = await startServerProcess({ dataDir, program });
  const { settings } = await next.admin.showSettings({});
  expect(settings).toContainEqual(
    expect.objectContaining({ name: 'scan_seconds', value: '90', source: 'file' }) as object,
  );
  const { items } = await next.admin.listAudit({ subject: 'server' });
  expect(items).toMatchObject([{ action: 'server.restarted' }]);
});
