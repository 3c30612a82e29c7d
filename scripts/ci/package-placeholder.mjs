/**
 * `node scripts/ci/package-placeholder.mjs FOLDER`: creates the unpacked app in a folder, based on a placeholder for
 * Electron.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packPlaceholderApp } from './placeholder-electron.mjs';

const [, , folder = 'dist'] = process.argv;
const work = mkdtempSync(join(tmpdir(), 'license-desk-placeholder-'));
try {
  process.stdout.write(`${await packPlaceholderApp(work, folder)}\n`);
} finally {
  rmSync(work, { recursive: true, force: true });
}
