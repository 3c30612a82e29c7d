/** Builds the Debian package of the server: its files, the systemd unit and the maintainer scripts. */
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { basename, dirname, join, relative } from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { run } from './child.mjs';
import { builtManualPage, nodePath, root } from './paths.mjs';

const NAME = 'license-desk-server';
const FOLDER = join('usr', 'lib', NAME);
const sources = join(root, 'packaging', 'debian');

/** @type {Readonly<Record<string, string>>} Debian architecture names */
const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64', arm: 'armhf' };

/**
 * What the native files need at least, by the versions of the symbols that they import.
 *
 * @param {readonly string[]} files
 * @param {RegExp} symbol with two groups, major and minor
 */
function highestVersion(files, symbol) {
  const found = files.flatMap((file) => [...readFileSync(file, 'latin1').matchAll(symbol)]);
  const minors = found.map(([, , minor]) => Number(minor));
  return `${found[0]?.[1]}.${Math.max(...minors)}`;
}

/** @param {string} tree */
function dependencies(tree) {
  const native = [join(tree, FOLDER, 'node'), ...globSync(`${tree}/${FOLDER}/**/*.node`)];
  const glibc = highestVersion(native, /\bGLIBC_(2)\.(\d+)/gu);
  // 3.4.29 came with GCC 11, and the numbers go on from there (libstdc++'s ABI policy).
  const cxx = Number(highestVersion(native, /\bGLIBCXX_(3\.4)\.(\d+)/gu).split('.')[2]);
  const gcc = cxx > 28 ? cxx - 18 : 10;
  return `libc6 (>= ${glibc}), libgcc-s1, libstdc++6 (>= ${gcc}), adduser, init-system-helpers (>= 1.54~)`;
}

/**
 * @param {string} tree
 * @param {string} path
 * @param {string | Buffer} content
 */
function write(tree, path, content) {
  const file = join(tree, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** @param {string} version */
function changelog(version) {
  const date = new Date(Number(process.env['SOURCE_DATE_EPOCH'] ?? 0) * 1000 || Date.now());
  const stamp = date.toUTCString().replace('GMT', '+0000');
  return (
    `${NAME} (${version}) stable; urgency=medium\n\n  * See https://licensedesk.app for the changes of this version.\n\n` +
    ` -- The License Desk authors <packages@licensedesk.app>  ${stamp}\n`
  );
}

/**
 * The files as other packages have them: readable by all, executable only where something is started.
 *
 * @param {string} tree
 */
function setModes(tree) {
  const programs = [
    `${FOLDER}/node`,
    `${FOLDER}/license-desk`,
    'DEBIAN/postinst',
    'DEBIAN/prerm',
    'DEBIAN/postrm',
  ];
  chmodSync(tree, 0o755);
  for (const entry of globSync('**/*', { cwd: tree, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isProgram = entry.isDirectory() || programs.includes(relative(tree, path));
    chmodSync(path, isProgram ? 0o755 : 0o644);
  }
}

/** @param {string} tree */
function checksums(tree) {
  const files = globSync('usr/**/*', { cwd: tree }).filter((file) => statSync(join(tree, file)).isFile());
  const lines = files.toSorted().map((file) => {
    const digest = createHash('md5')
      .update(readFileSync(join(tree, file)))
      .digest('hex');
    return `${digest}  ${file}\n`;
  });
  return lines.join('');
}

/** @returns {Promise<string>} */
async function unit() {
  /** @type {Promise<string>} */
  let printed = Promise.resolve('');
  const { code } = await run(nodePath, [join(root, 'scripts', 'debian-unit.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
    onSpawn: ({ stdout }) => {
      if (stdout) printed = text(stdout);
    },
  });
  if (code !== 0) throw new Error(`scripts/debian-unit.ts failed with exit code ${code}`);
  return printed;
}

/**
 * @param {string} server what `assembleServer` put together
 * @param {string} work an empty folder
 * @param {string} version
 * @param {string} output folder for the package
 * @param {string} [compression] of dpkg-deb
 * @returns {Promise<string>} the package's file
 */
export async function packageServerForDebian(server, work, version, output, compression = 'xz') {
  const architecture = ARCHITECTURES[process.arch] ?? process.arch;
  const tree = join(work, NAME);
  cpSync(server, join(tree, FOLDER), { recursive: true });
  // Where Debian looks for them.
  for (const file of ['INSTALLING.md', 'nginx.conf']) {
    cpSync(join(tree, FOLDER, file), join(tree, 'usr', 'share', 'doc', NAME, file));
    rmSync(join(tree, FOLDER, file));
  }
  write(tree, 'usr/lib/systemd/system/license-desk.service', await unit());
  write(tree, `usr/share/doc/${NAME}/changelog.gz`, gzipSync(changelog(version), { level: 9 }));
  cpSync(join(sources, 'copyright'), join(tree, 'usr', 'share', 'doc', NAME, 'copyright'));
  cpSync(join(sources, 'lintian-overrides'), join(tree, 'usr', 'share', 'lintian', 'overrides', NAME));
  const manualPage = join(tree, FOLDER, basename(builtManualPage));
  const page = gzipSync(readFileSync(manualPage), { level: 9 });
  write(tree, 'usr/share/man/man1/license-desk.1.gz', page);
  rmSync(manualPage);
  const installedSize = globSync('usr/**/*', { cwd: tree })
    .map((file) => Math.ceil(statSync(join(tree, file)).size / 1024))
    .reduce((sum, size) => sum + size, 0);
  const control = [
    `Package: ${NAME}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    'Maintainer: The License Desk authors <packages@licensedesk.app>',
    `Installed-Size: ${installedSize}`,
    `Depends: ${dependencies(tree)}`,
    'Section: admin',
    'Priority: optional',
    'Homepage: https://licensedesk.app',
    'Description: license server with a back office and a command line',
    ' License Desk issues, activates and verifies software licenses on your own',
    ' premises. This package runs the server as a systemd service, with its own',
    ' Node.js. Its data is in /var/lib/license-desk and stays when the package is',
    ' removed.',
    '',
  ];
  write(tree, 'DEBIAN/control', control.join('\n'));
  write(tree, 'DEBIAN/md5sums', checksums(tree));
  for (const script of ['postinst', 'prerm', 'postrm'])
    cpSync(join(sources, script), join(tree, 'DEBIAN', script));
  setModes(tree);
  mkdirSync(output, { recursive: true });
  const file = join(output, `${NAME}_${version}_${architecture}.deb`);
  const { code } = await run('dpkg-deb', ['--root-owner-group', `-Z${compression}`, '--build', tree, file], {
    stdio: ['ignore', 2, 2],
  });
  if (code !== 0) throw new Error(`dpkg-deb failed with exit code ${code} for ${basename(file)}`);
  rmSync(tree, { recursive: true, force: true });
  return file;
}
