// The Windows installer's own part, compiled with the macros of electron-builder that it uses.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { project } from './packed-app.ts';

const execute = promisify(execFile);
const MAKENSIS = '/usr/bin/makensis';
const script = join(project, 'packaging/windows/installer.nsh');
const includes = join(project, 'node_modules/app-builder-lib/templates/nsis/include');

async function compile(installer: string): Promise<string> {
  const out = join(temporaryDirectory(), 'installer.exe');
  const defines = [`-DOUT=${out}`, `-DINSTALLER=${installer}`];
  const words = ['-WX', '-V2', `-X!addincludedir ${includes}`, ...defines];
  await execute(MAKENSIS, [...words, join(import.meta.dirname, 'installer-harness.nsi')]);
  return out;
}

test.skipIf(!existsSync(MAKENSIS))('compiles, with warnings as errors', async () => {
  const file = await compile(script);
  expect(statSync(file).size).toBeGreaterThan(30_000);
  expect(readFileSync(file).toString('latin1', 0, 2)).toBe('MZ');
});

test.skipIf(!existsSync(MAKENSIS))(
  'does not compile with a macro that electron-builder does not have',
  async () => {
    const broken = join(temporaryDirectory(), 'installer.nsh');
    writeFileSync(broken, readFileSync(script, 'utf8').replaceAll('FIND_PROCESS', 'LOOK_FOR_PROCESS'));
    await expect(compile(broken)).rejects.toThrow('LOOK_FOR_PROCESS');
  },
);

test('removes what it added, unless an update follows', () => {
  const text = readFileSync(script, 'utf8');
  const [, uninstall = ''] = /!macro customUnInstall\n([^]*?)!macroend/u.exec(text) ?? [];
  expect(uninstall).toMatch(/^ {2}\$\{ifNot\} \$\{isUpdated\}\n[^]*\n {2}\$\{endIf\}\n$/mu);
  expect(uninstall).toContain('!insertmacro removeFirewallRule');
  expect(uninstall).toContain(
    String.raw`DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run"`,
  );
  const identity = readFileSync(join(project, 'electron/app-identity.ts'), 'utf8');
  const [, entry = 'none'] = /START_AT_LOGIN "(.+)"/u.exec(text) ?? [];
  expect(identity).toContain(`'${entry}'`);
});
