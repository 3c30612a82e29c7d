/** The software bill of materials (CycloneDX): the output of `npm sbom`, limited to the packages in the product. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './child.mjs';
import { root } from './paths.mjs';
import { thirdPartyPackages } from './third-party.mjs';

/** Shipped inside the packages and next to them. */
export const SBOM_FILE = join(root, 'out', 'sbom.cdx.json');

/**
 * @typedef {{ 'bom-ref': string, type: string, name: string, version: string, purl: string, [more: string]: unknown }} Component
 */

/** @param {string} license an SPDX id or expression */
const licensesOf = (license) =>
  /^[\w.-]+$/u.test(license) ? [{ license: { id: license } }] : [{ expression: license }];

/**
 * @param {string} name
 * @param {string} version
 * @returns {Component}
 */
function npmComponent(name, version) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return { 'bom-ref': `${name}@${version}`, type: 'library', name, version, purl };
}

/** SQLite is compiled into the driver; its package contains the sources. */
function sqliteComponent() {
  const [archive = ''] = globSync('sqlite-autoconf-*.tar.gz', {
    cwd: join(root, 'node_modules/sqlite3/deps'),
  });
  // 3520100 is 3.52.1.
  const [, major, minor, patch] = /(\d)(\d\d)(\d\d)00\.tar\.gz$/u.exec(archive) ?? [];
  const version = [major, minor, patch].map(Number).join('.');
  const purl = `pkg:generic/sqlite@${version}`;
  return {
    'bom-ref': `sqlite@${version}`,
    type: 'library',
    name: 'sqlite',
    version,
    purl,
    licenses: licensesOf('blessing'),
  };
}

/** The runtimes of the product: Node in the server package, Electron in the app. */
function runtimeComponents() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const framework = { type: 'framework', scope: 'optional', licenses: licensesOf('MIT') };
  return [
    {
      'bom-ref': `node@${devDependencies.node}`,
      name: 'node',
      version: devDependencies.node,
      purl: `pkg:generic/node@${devDependencies.node}`,
      ...framework,
    },
    { ...npmComponent('electron', devDependencies.electron), ...framework },
  ];
}

/**
 * @typedef {object} Bom
 * @property {Component[]} components
 * @property {{ ref: string, dependsOn?: string[] }[]} dependencies
 * @property {{ component: { 'bom-ref': string } }} metadata
 */

/**
 * Lists everything that is installed. `--omit=dev` would also leave out packages that development dependencies share
 * with the product.
 *
 * @returns {Promise<Bom>}
 */
async function npmSbom() {
  let text = '';
  const { code } = await run('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    shell: process.platform === 'win32',
    onSpawn: ({ stdout }) => stdout?.on('data', (chunk) => (text += chunk)),
  });
  if (code !== 0) throw new Error(`npm sbom failed with exit code ${code}`);
  return JSON.parse(text);
}

/** Writes the bill of materials. Requires a build. */
export async function writeSbom() {
  const bom = await npmSbom();
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const installed = new Map(bom.components.map((component) => [component['bom-ref'], component]));
  const shipped = thirdPartyPackages().map((found) => ({
    ...npmComponent(found.name, found.version),
    ...installed.get(`${found.name}@${found.version}`),
    scope: 'required',
    licenses: licensesOf(found.license),
  }));
  const refs = new Set([
    bom.metadata.component['bom-ref'],
    ...shipped.map((component) => component['bom-ref']),
  ]);
  const more = [sqliteComponent(), ...runtimeComponents()].filter(
    (component) => !refs.has(component['bom-ref']),
  );
  // npm names the product after the checkout folder.
  Object.assign(bom.metadata.component, { name, version });
  bom.components = [...shipped, ...more];
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((needed) => refs.has(needed)) }));
  writeFileSync(SBOM_FILE, `${JSON.stringify(bom, null, 2)}\n`);
}
