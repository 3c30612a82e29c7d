/**
 * `node scripts/ci/release-notes.mjs v1.2.3`: prints the section of CHANGELOG.md for a tag. Fails if the tag does not
 * match the version in package.json, or if the changelog has no section for it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../paths.mjs';

/**
 * @param {string} tag
 * @param {string} version of package.json
 * @param {string} changelog
 * @returns {string}
 */
export function releaseNotes(tag, version, changelog) {
  if (tag !== `v${version}`) throw new Error(`the tag must be v${version}, as in package.json (got ${tag})`);
  const [, ...sections] = changelog.split(/^## /mu);
  const section = sections.find((text) => text.split('\n', 1)[0]?.split(' ')[0] === version);
  if (!section) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  const [heading = '', ...lines] = section.split('\n');
  if (heading.includes('unreleased')) throw new Error(`CHANGELOG.md says that ${version} is unreleased`);
  return `${lines.join('\n').trim()}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const read = (/** @type {string} */ file) => readFileSync(join(root, file), 'utf8');
  try {
    const { version } = JSON.parse(read('package.json'));
    process.stdout.write(releaseNotes(process.argv[2] ?? '', version, read('CHANGELOG.md')));
  } catch (error) {
    process.stderr.write(`error: ${/** @type {Error} */ (error).message}\n`);
    process.exitCode = 1;
  }
}
