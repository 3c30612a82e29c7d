// The built command line on every Node of this machine: those that are promised work, older ones are refused in one line.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { isNodeSupported, NODE_RANGE } from '../../cli/node-version.ts';
import { CLI_PROGRAM } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { within } from '../helpers/within.ts';

interface Outcome {
  stdout: string;
  stderr: string;
  code: number | null;
}

/** By version: `v20.19.0` → its file. The one that runs the tests is always there. */
function installedNodes(): Map<string, string> {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter(Boolean);
  const files = folders.map((folder) => join(folder, 'node')).filter((file) => existsSync(file));
  const versionOf = (file: string) => execFileSync(file, ['--version'], { encoding: 'utf8' }).trim();
  return new Map([
    ...files.map((file) => [versionOf(file), file] as const),
    [process.version, process.execPath],
  ]);
}

const nodes = [...installedNodes()];
const supported = nodes.filter(([version]) => isNodeSupported(version, NODE_RANGE));
const older = nodes.filter(([version]) => !isNodeSupported(version, NODE_RANGE));

async function run(node: string, ...words: string[]): Promise<Outcome> {
  const child = spawn(node, [CLI_PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  await within(`license-desk ${words.join(' ')}`, once(child, 'close'), { onTimeout: () => stderr });
  return { stdout, stderr, code: child.exitCode };
}

describe.each(supported)('Node %s', (version, node) => {
  test('serves', async () => {
    const words = ['serve', '--data-dir', temporaryDirectory(), '--port', '0', '--admin-port', '0'];
    const child = spawn(node, [CLI_PROGRAM, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const [line] = (await within('the ready line', once(createInterface(child.stdout), 'line'))) as [string];
    const { api } = JSON.parse(line) as { api: string };
    expect((await fetch(`${api}health/`)).status).toBe(200);
    child.kill('SIGTERM');
    await within('the stop', once(child, 'exit'));
    expect(child.exitCode).toBe(0);
  });

  test('passes `doctor`', async () => {
    const { stdout, code } = await run(node, 'doctor', '--data-dir', temporaryDirectory());
    expect(stdout).toMatch(new RegExp(`^node +ok +Node ${version} \\(required: ${NODE_RANGE}\\)`, 'mu'));
    expect(code).toBe(0);
  });
});

describe.skipIf(older.length === 0)('an older Node (skipped without one on PATH)', () => {
  test.each(older)('%s is refused in one line', async (version, node) => {
    const dataDir = temporaryDirectory();
    for (const command of [
      ['serve', '--port', '0', '--admin-port', '0'],
      ['license', 'list'],
      ['backup', '--out', 'x'],
    ]) {
      expect(await run(node, ...command, '--data-dir', dataDir)).toEqual({
        stdout: '',
        stderr: `error: License Desk needs Node 24 or later (this is ${version} at ${realNode(node)})\n`,
        code: 1,
      });
    }
  });

  test.each(older)('%s fails `doctor`', async (version, node) => {
    const { stdout, stderr, code } = await run(node, 'doctor', '--data-dir', temporaryDirectory());
    expect(stdout).toMatch(new RegExp(`^node +FAILED +Node ${version} \\(required: ${NODE_RANGE}\\)`, 'mu'));
    expect(stderr).toMatch(/^error: 1 of \d+ checks failed: node\n$/u);
    expect(code).toBe(1);
  });
});

/** As the process itself names it. */
function realNode(file: string): string {
  return execFileSync(file, ['-p', 'process.execPath'], { encoding: 'utf8' }).trim();
}
