// A stop of the server ends a restore that is being prepared, whose copies of a large database take long.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { cliCall } from '#server/platform/call.ts';
import { loadConfig } from '#server/platform/config.ts';
import { createSecurityLog } from '#server/platform/security-log.ts';
import { composeRestore } from '#server/wiring/compose-restore.ts';
import { cliOn } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';

it('copies nothing once the server is stopping', async () => {
  const [folder, dataDir] = [temporaryDirectory(), temporaryDirectory()];
  await cliOn(folder).ok('license', 'create', '--holder', 'Acme');
  const config = loadConfig({ flags: { 'data-dir': dataDir }, env: {} });
  const restores = composeRestore(config, {
    isServing: true,
    security: createSecurityLog(join(dataDir, 'logs'), () => {}),
    call: () => cliCall('tester'),
    signal: AbortSignal.abort(),
  });
  const opening = restores.open({ file: folder, passphrase: null, acceptUnsigned: true });
  await expect(opening).rejects.toThrow(/^the server is stopping; nothing has changed$/u);
  expect(existsSync(join(dataDir, 'restore-staging', 'license-desk.db'))).toBe(false);
});
