/** Installs some of the packages in a separate folder, in the locked versions. Node 20 built-ins only. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OUTPUT_TO_STDERR, run } from './child.mjs';
import { outFolder, root } from './paths.mjs';

/**
 * What only tests, checks and packaging need: half of all files. A start installs the others, so a package that is missing
 * here costs time, and nothing else.
 */
export const TOOL_PACKAGES = [
  '@actions/expressions',
  '@actions/workflow-parser',
  '@axe-core/playwright',
  '@electron/asar',
  '@playwright/test',
  '@redocly/cli',
  '@stoplight/spectral-cli',
  'ajv',
  'ajv-formats',
  'dependency-cruiser',
  'electron-builder',
  'fast-check',
  'knip',
  'openapi-typescript',
  'oxfmt',
  'oxlint',
  'standardwebhooks',
  'vitest',
  'vue-tsc',
  'yaml',
];

/** @param {string} name of a JSON file in the root */
const readJson = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'));

/** @returns {Record<string, string>} all packages that package.json names, with their versions */
function declaredPackages() {
  const { dependencies, devDependencies } = readJson('package.json');
  return { ...devDependencies, ...dependencies };
}

/** @returns {string[]} */
export const startPackages = () =>
  Object.keys(declaredPackages()).filter((name) => !TOOL_PACKAGES.includes(name));

/**
 * @param {readonly string[]} args
 * @param {import('./child.mjs').Options} options
 */
export function npm(args, options) {
  const path = process.env['npm_execpath'] ?? '';
  // Only errors, because under Node 20 npm warns about every package that requires a later version; they run on the
  // installed Node.
  const words = [...args, '--loglevel=error'];
  // This process may run on the installed Node, which an installation removes; then the next one on PATH is taken.
  const node = process.execPath.startsWith(root) ? 'node' : process.execPath;
  return path.endsWith('npm-cli.js')
    ? run(node, [path, ...words], options)
    : run('npm', words, { ...options, shell: process.platform === 'win32' });
}

/**
 * Installs without running scripts.
 *
 * @param {readonly string[]} words
 * @param {import('./child.mjs').Options} [options]
 */
export async function installWithoutScripts(words, options = { stdio: OUTPUT_TO_STDERR }) {
  const { code } = await npm([...words, '--ignore-scripts', '--no-audit', '--no-fund'], options);
  if (code !== 0) throw new Error(`npm ${words[0]} failed with exit code ${code}; its messages are above`);
}

/**
 * A project with only these packages, the same lockfile and the same allowed scripts.
 *
 * @param {string} prefix of its folder's name. Each run has its own, so that what a killed run left behind, even a compiler,
 *   does not disturb the next one.
 * @param {readonly string[]} names
 * @returns its folder
 */
export function createProject(prefix, names) {
  mkdirSync(outFolder, { recursive: true });
  for (const name of readdirSync(outFolder).filter((each) => each.startsWith(prefix)))
    removeFolder(join(outFolder, name));
  const folder = mkdtempSync(join(outFolder, prefix));
  const { name, version, allowScripts } = readJson('package.json');
  const versions = declaredPackages();
  const project = {
    name,
    version,
    dependencies: Object.fromEntries(names.map((each) => [each, versions[each]])),
  };
  const locked = readJson('package-lock.json');
  /** @param {string} file @param {unknown} content */
  const write = (file, content) => writeFileSync(join(folder, file), JSON.stringify(content));
  write('package.json', { ...project, private: true, allowScripts });
  write('package-lock.json', { ...locked, packages: { ...locked.packages, '': project } });
  return folder;
}

/** @param {string} folder */
export const removeFolder = (folder) => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
