/** `node scripts/ci/package-placeholder.mjs FOLDER`: puts the unpacked app on a placeholder for Electron into a folder. */
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
