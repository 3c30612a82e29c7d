// Runs the conformance app in Electron or in the stand-in, and returns what it observed.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireElectron } from '../../../scripts/desktop-app.mjs';

export type Place = 'electron' | 'stand-in';

const RUN_TIMEOUT_MS = 240_000;
const APP = join(import.meta.dirname, 'app');

function commandFor(place: Place, folder: string): [string, string[]] {
  if (place === 'stand-in') {
    const warn = '--unhandled-rejections=warn-with-error-code';
    return [process.execPath, [warn, join(import.meta.dirname, '../stand-in/run.ts'), join(APP, 'main.mjs')]];
  }
  // Chromium does not sandbox for root.
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return [requireElectron(), [...sandbox, APP, `--user-data-dir=${join(folder, 'user-data')}`]];
}

export async function observe(place: Place): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-conformance-'));
  const out = join(folder, 'facts.json');
  try {
    const [command, args] = commandFor(place, folder);
    await promisify(execFile)(command, args, {
      env: { ...process.env, CONFORMANCE_OUT: out },
      timeout: RUN_TIMEOUT_MS,
    });
    return JSON.parse(readFileSync(out, 'utf8')) as Record<string, unknown>;
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
