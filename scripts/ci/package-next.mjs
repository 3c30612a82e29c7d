/**
 * `node scripts/ci/package-next.mjs FOLDER [--placeholder]`: packages the app with the next patch version into a folder,
 * so that a workflow can update an installed app. Unsigned: the update is installed by hand. With `--placeholder`, the
 * unpacked app over the placeholder for Electron.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildIfStale } from '../build.mjs';
import { run } from '../child.mjs';
import { root } from '../paths.mjs';
import { packPlaceholderApp } from './placeholder-electron.mjs';

const { values, positionals } = parseArgs({
  options: { placeholder: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [folder] = positionals;
if (!folder) {
  process.stderr.write('usage: node scripts/ci/package-next.mjs FOLDER [--placeholder]\n');
  process.exit(2);
}

async function packageInto(/** @type {string} */ output) {
  if (values.placeholder) {
    const work = mkdtempSync(join(tmpdir(), 'license-desk-next-'));
    try {
      await packPlaceholderApp(work, output);
    } finally {
      rmSync(work, { recursive: true, force: true });
    }
    return;
  }
  const { code } = await run('electron-builder', ['--publish=never', `-c.directories.output=${output}`], {
    shell: process.platform === 'win32',
  });
  if (code !== 0) throw new Error(`electron-builder failed with exit code ${code}`);
}

// The server's version is part of the build.
const files = ['package.json', 'package-lock.json'].map((name) => join(root, name));
const texts = files.map((file) => readFileSync(file, 'utf8'));
const { version } = JSON.parse(texts[0] ?? '');
const next = version.replace(/\d+$/u, (/** @type {string} */ patch) => String(Number(patch) + 1));
try {
  for (const [at, file] of files.entries()) {
    writeFileSync(file, (texts[at] ?? '').replace(`"version": "${version}"`, `"version": "${next}"`));
  }
  await buildIfStale();
  await packageInto(folder);
} finally {
  for (const [at, file] of files.entries()) writeFileSync(file, texts[at] ?? '');
}
await buildIfStale();
process.stdout.write(`${next}\n`);
