#!/usr/bin/env node
// Takes the place of fpm, which electron-builder downloads: makes a Debian package of what electron-builder asks for.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const text = /** @type {const} */ ({ type: 'string' });
const list = /** @type {const} */ ({ type: 'string', multiple: true });
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    s: { ...text, short: 's' },
    t: { ...text, short: 't' },
    force: { type: 'boolean' },
    d: { ...list, short: 'd' },
    'deb-recommends': list,
    'deb-compression': text,
    'deb-priority': text,
    architecture: text,
    'after-install': text,
    'after-remove': text,
    description: text,
    version: text,
    package: text,
    name: text,
    maintainer: text,
    vendor: text,
    url: text,
    license: text,
    category: text,
  },
});

const tree = mkdtempSync(join(tmpdir(), 'license-desk-deb-'));
for (const positional of positionals) {
  const [from = '', to = ''] = positional.split('=');
  const target = join(tree, to);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(from, target, { recursive: true });
}
for (const entry of globSync('**/*', { cwd: tree, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  chmodSync(path, entry.isDirectory() || (statSync(path).mode & 0o100) !== 0 ? 0o755 : 0o644);
}
mkdirSync(join(tree, 'DEBIAN'));
for (const [script, file] of [
  ['postinst', values['after-install']],
  ['postrm', values['after-remove']],
]) {
  if (file) writeFileSync(join(tree, 'DEBIAN', String(script)), readFileSync(file), { mode: 0o755 });
}
const [synopsis = '', ...description] = (values.description ?? '').trim().split('\n');
const control = [
  `Package: ${values.name}`,
  `Version: ${values.version}`,
  `Architecture: ${values.architecture}`,
  `Maintainer: ${values.maintainer}`,
  `Depends: ${values.d?.join(', ')}`,
  `Homepage: ${values.url}`,
  `Description: ${synopsis}`,
  ...description.map((line) => ` ${line.trim()}`),
  '',
];
writeFileSync(join(tree, 'DEBIAN/control'), control.join('\n'));
chmodSync(tree, 0o755);
execFileSync('dpkg-deb', ['--root-owner-group', '-Znone', '--build', tree, String(values.package)]);
rmSync(tree, { recursive: true });
