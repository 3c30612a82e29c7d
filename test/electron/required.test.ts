// On GitHub, specs that need Electron must not be skipped because its binary is missing.
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../helpers/server-process.ts';

const project = resolve(import.meta.dirname, '../..');

/** Where Electron is looked for in a folder that has none. */
function runSpec(env: Record<string, string>): { status: number | null; output: string } {
  const cli = join(project, 'node_modules/@playwright/test/cli.js');
  const results = `--output=${temporaryDirectory('results')}`;
  const words = ['test', 'test/e2e/desktop-app.spec.ts', '--project=electron', '--reporter=list', results];
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...words], {
    cwd: project,
    encoding: 'utf8',
    env: {
      ...process.env,
      LICENSE_DESK_E2E_PLACE: '',
      LICENSE_DESK_REQUIRE_ELECTRON: '',
      ELECTRON_OVERRIDE_DIST_PATH: temporaryDirectory('no-electron'),
      ...env,
    },
  });
  return { status, output: stdout + stderr };
}

test('a spec that needs Electron is skipped without it, and fails where Electron is required', () => {
  const skipped = runSpec({});
  expect(skipped.output).toContain('1 skipped');
  expect(skipped.status).toBe(0);
  const required = runSpec({ LICENSE_DESK_REQUIRE_ELECTRON: '1' });
  expect(required.output).toContain(
    'LICENSE_DESK_REQUIRE_ELECTRON is set, but Electron’s binary is not installed',
  );
  expect(required.output).toContain('1 failed');
  expect(required.status).toBe(1);
});
