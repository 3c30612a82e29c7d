/**
 * `node scripts/ci/collect-release.mjs FROM TO`: puts the files that the platforms packaged into one folder. FROM has
 * a folder for each platform. Both Macs write `latest-mac.yml`: their files go into one, or half of all Macs would be
 * offered the build of the other architecture. A changed manifest loses its signature.
 */
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';

const MAC_MANIFEST = 'latest-mac.yml';
const SBOM = /\.cdx\.json$/u;

/** @typedef {{ version: string, files: { url: string }[], path: string, sha512: string, releaseDate: string }} Manifest */

/**
 * @param {readonly Manifest[]} manifests of different architectures
 * @returns {Manifest} for electron-updater, which looks for `arm64` in the names
 */
export function mergeManifests(manifests) {
  const [first, ...others] = manifests;
  if (!first) throw new Error(`${MAC_MANIFEST} is missing`);
  const odd = others.find(({ version }) => version !== first.version);
  if (odd) throw new Error(`the Macs packaged different versions: ${first.version} and ${odd.version}`);
  const files = manifests.flatMap((manifest) => manifest.files);
  const names = files.map(({ url }) => url);
  if (new Set(names).size !== names.length) throw new Error(`the Macs packaged files of one name: ${names}`);
  return { ...first, files };
}

/**
 * @param {string} from
 * @param {string} to
 */
export function collectRelease(from, to) {
  mkdirSync(to, { recursive: true });
  const files = globSync('*/*', { cwd: from }).toSorted();
  const macs = files.filter((file) => basename(file) === MAC_MANIFEST);
  const left = files.filter(
    (file) => !macs.includes(file) && !/\.sig$|^.*proof-[^/]*$/u.test(basename(file)),
  );
  const readable = (/** @type {string} */ file) => readFileSync(join(from, file));
  for (const file of left) {
    // One for all platforms: it lists the contents of every platform's packages.
    const name = SBOM.test(file) ? 'sbom.cdx.json' : basename(file);
    const target = join(to, name);
    if (existsSync(target) && !SBOM.test(file) && !readFileSync(target).equals(readable(file))) {
      throw new Error(`two platforms packaged a different ${name}`);
    }
    if (!existsSync(target)) copyFileSync(join(from, file), target);
  }
  if (macs.length > 0) {
    const merged = mergeManifests(macs.map((file) => parse(readable(file).toString())));
    writeFileSync(join(to, MAC_MANIFEST), stringify(merged));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , from, to] = process.argv;
  if (!from || !to) {
    process.stderr.write('usage: node scripts/ci/collect-release.mjs FROM TO\n');
    process.exitCode = 2;
  } else collectRelease(from, to);
}
