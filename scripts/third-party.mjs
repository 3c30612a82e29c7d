/** The third-party packages in the product, with their licenses: for About, and as THIRD-PARTY-LICENSES.txt. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundledPackages } from './bundled-packages.mjs';
import { root } from './paths.mjs';

/** Next to the page, which fetches it on demand. */
const LIST = join(root, 'out', 'renderer', 'third-party.json');
export const LICENSES_FILE = join(root, 'out', 'THIRD-PARTY-LICENSES.txt');

const LICENSE_FILE = /^(licen[cs]e|copying|notice|unlicense)/iu;
/** The license section of a README. */
const LICENSE_SECTION = /^#+ *licen[cs]e *\n+([\s\S]*)/imu;

/**
 * Packages without the text of their declared license. Each has been reviewed; a new one fails the build.
 *
 * @type {Readonly<Record<string, string>>}
 */
const WITHOUT_TEXT = {
  '@vue/devtools-api': 'version 6 has none; its package.json says "MIT"',
  'combine-errors': 'its README says "MIT"',
  'custom-error-instance': 'its package.json says "ISC"',
  'lazy-val': 'its package.json says "MIT"',
  numbered: 'its package.json and README say "MIT"',
  'tiny-case': 'its package.json says "MIT"',
  'type-fest': 'version 2 publishes its license texts on GitHub only; its package.json says "MIT OR CC0-1.0"',
};

/**
 * Licenses that package.json does not name.
 *
 * @type {Readonly<Record<string, string>>}
 */
const UNDECLARED = { 'combine-errors': 'MIT' };

/**
 * @typedef {object} ThirdPartyPackage
 * @property {string} path below the project, `node_modules/vue`
 * @property {string} name
 * @property {string} version
 * @property {string} license SPDX expression, as the package declares it
 * @property {boolean} bundled in a bundle; else installed in `node_modules`
 * @property {string} text
 */

/**
 * @param {string} path
 * @param {{ name: string, license: string, author: string }} about
 */
function licenseText(path, { name, license, author }) {
  const files = readdirSync(join(root, path), { withFileTypes: true }).filter((entry) => entry.isFile());
  // Licenses of code that a package bundles itself are in `….js.LICENSE.txt`.
  const texts = files.filter((file) => LICENSE_FILE.test(file.name) || file.name.endsWith('.LICENSE.txt'));
  if (texts.length > 0) {
    return texts.map((file) => readFileSync(join(root, path, file.name), 'utf8').trim()).join('\n\n');
  }
  const readme = files.find((file) => /^readme/iu.test(file.name));
  const section = readme && LICENSE_SECTION.exec(readFileSync(join(root, path, readme.name), 'utf8'))?.[1];
  if (section && /permission/iu.test(section)) return section.trim();
  const reason = WITHOUT_TEXT[name];
  if (!reason)
    throw new Error(`${path} has no license text; look for it, and add it to scripts/third-party.mjs`);
  return `The package contains no license text: ${reason}.\nLicense: ${license}\nAuthor: ${author}`;
}

/** @param {unknown} person as package.json names one */
function personName(person) {
  if (typeof person === 'string') return person;
  return /** @type {{ name?: string } | undefined} */ (person)?.name ?? 'unknown';
}

/**
 * @param {string} path
 * @param {boolean} bundled
 * @returns {ThirdPartyPackage}
 */
function describe(path, bundled) {
  const manifest = JSON.parse(readFileSync(join(root, path, 'package.json'), 'utf8'));
  // Old packages use objects instead.
  const declared = manifest.license ?? manifest.licenses?.[0] ?? UNDECLARED[manifest.name];
  const license = typeof declared === 'object' ? declared.type : declared;
  if (typeof license !== 'string')
    throw new Error(`${path} declares no license; add it to scripts/third-party.mjs`);
  const about = { name: manifest.name, license, author: personName(manifest.author) };
  return { path, ...about, version: manifest.version, bundled, text: licenseText(path, about) };
}

/**
 * All packages that the product brings: what its bundles contain, and what is installed beside them.
 *
 * @returns {ThirdPartyPackage[]}
 */
export function thirdPartyPackages() {
  const bundled = bundledPackages();
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const installed = Object.keys(packages).filter(
    (path) => path !== '' && !packages[path].dev && existsSync(join(root, path)),
  );
  const paths = [...new Set([...bundled, ...installed])];
  const all = paths.map((path) => describe(path, bundled.includes(path)));
  // The same version in several folders is one package.
  const byName = new Map(all.map((found) => [`${found.name}@${found.version}`, found]));
  return [...byName.values()].toSorted(
    (one, other) =>
      one.name.localeCompare(other.name, 'en') || one.version.localeCompare(other.version, 'en'),
  );
}

/** Writes the text file, and the list for the page with each license text once. */
export function writeThirdPartyLicenses() {
  const packages = thirdPartyPackages();
  const texts = [...new Set(packages.map(({ text }) => text))];
  const list = packages.map(({ name, version, license, text }) => ({
    name,
    version,
    license,
    text: texts.indexOf(text),
  }));
  writeFileSync(LIST, JSON.stringify({ packages: list, texts }));
  const line = '-'.repeat(80);
  const parts = packages.map(
    ({ name, version, license, text }) =>
      `${line}\n${name} ${version}\nLicense: ${license}\n${line}\n\n${text}\n`,
  );
  writeFileSync(
    LICENSES_FILE,
    `License Desk contains the following third-party packages.\n\n${parts.join('\n')}`,
  );
}
