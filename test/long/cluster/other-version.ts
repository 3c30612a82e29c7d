// This build under another version number: what servers of a rolling upgrade run while versions differ.
import { cpSync, globSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { VERSION } from '#server/installation/version.ts';
import { temporaryDirectory } from '../../helpers/server-process.ts';

const OTHER_VERSION = '99.0.0';
const project = resolve(import.meta.dirname, '../../..');

/** @returns the program and its first words, as a copy of the build that calls itself 99.0.0 */
export function otherVersion(): string[] {
  const copy = temporaryDirectory('other-version');
  const built = join(copy, 'out');
  cpSync(join(project, 'out'), built, { recursive: true });
  cpSync(join(project, 'package.json'), join(copy, 'package.json'));
  symlinkSync(join(project, 'node_modules'), join(copy, 'node_modules'));
  for (const file of globSync('main/package-*.js', { cwd: built })) {
    const path = join(built, file);
    const text = readFileSync(path, 'utf8');
    if (!text.includes(`"${VERSION}"`)) throw new Error(`${path} does not contain the version ${VERSION}`);
    writeFileSync(path, text.replaceAll(`"${VERSION}"`, `"${OTHER_VERSION}"`));
  }
  return [join(built, 'main/cli.js'), 'serve'];
}
