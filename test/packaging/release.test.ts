// What the publishing workflow makes of the packages: one folder, with one manifest for both kinds of Mac.
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync, verify } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { collectRelease } from '../../scripts/ci/collect-release.mjs';
import { releaseNotes } from '../../scripts/ci/release-notes.mjs';
import { temporaryDirectory } from '../helpers/server-process.ts';

const project = resolve(import.meta.dirname, '../..');

const manifest = (arch: string, version = '1.2.3') => `version: ${version}
files:
  - url: license-desk-${version}-mac-${arch}.zip
    sha512: ${arch}-zip
    size: 1
path: license-desk-${version}-mac-${arch}.zip
sha512: ${arch}-zip
releaseDate: '2026-11-22T00:00:00.000Z'
`;

function packages(files: Record<string, string>): { from: string; to: string } {
  const from = temporaryDirectory('packages');
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(from, file, '..'), { recursive: true });
    writeFileSync(join(from, file), content);
  }
  return { from, to: join(temporaryDirectory('release'), 'release') };
}

const ALL = {
  'packages-linux-x64/license-desk-1.2.3-linux-x64.deb': 'deb',
  'packages-linux-x64/latest-linux.yml': 'version: 1.2.3\n',
  'packages-linux-x64/license-desk-1.2.3.cdx.json': '{"serialNumber":1}',
  'packages-linux-x64/proof-linux-x64.json': '{}',
  'packages-macos-arm64/latest-mac.yml': manifest('arm64'),
  'packages-macos-arm64/latest-mac.yml.sig': 'of one manifest',
  'packages-macos-arm64/license-desk-1.2.3.cdx.json': '{"serialNumber":2}',
  'packages-macos-x64/latest-mac.yml': manifest('x64'),
};

test('a release has every package once, and offers each Mac its own', () => {
  const { from, to } = packages(ALL);
  collectRelease(from, to);
  expect(readdirSync(to).toSorted()).toEqual([
    'latest-linux.yml',
    'latest-mac.yml',
    'license-desk-1.2.3-linux-x64.deb',
    'sbom.cdx.json',
  ]);
  expect(parse(readFileSync(join(to, 'latest-mac.yml'), 'utf8'))).toMatchObject({
    version: '1.2.3',
    files: [
      { url: 'license-desk-1.2.3-mac-arm64.zip', sha512: 'arm64-zip' },
      { url: 'license-desk-1.2.3-mac-x64.zip', sha512: 'x64-zip' },
    ],
  });
});

test('the manifests are signed after they are merged', () => {
  const { from, to } = packages(ALL);
  collectRelease(from, to);
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { status } = spawnSync(process.execPath, [join(project, 'scripts/sign-update.mjs'), to], {
    env: {
      ...process.env,
      LICENSE_DESK_UPDATE_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    },
  });
  expect(status).toBe(0);
  const signature = Buffer.from(readFileSync(join(to, 'latest-mac.yml.sig'), 'utf8'), 'base64');
  expect(verify(null, readFileSync(join(to, 'latest-mac.yml')), publicKey, signature)).toBe(true);
});

test('packages that do not belong together make no release', () => {
  const mixed = packages({ ...ALL, 'packages-macos-x64/latest-mac.yml': manifest('x64', '1.2.4') });
  expect(() => collectRelease(mixed.from, mixed.to)).toThrow('different versions: 1.2.3 and 1.2.4');
  const same = packages({ ...ALL, 'packages-macos-x64/latest-mac.yml': manifest('arm64') });
  expect(() => collectRelease(same.from, same.to)).toThrow('files of one name');
  const other = packages({ ...ALL, 'packages-linux-arm64/latest-linux.yml': 'version: 1.2.4\n' });
  expect(() => collectRelease(other.from, other.to)).toThrow(
    'two platforms packaged a different latest-linux.yml',
  );
});

test('a release has the notes of its version', () => {
  const changelog =
    '# Changelog\n\n## Unreleased\n\n- Later.\n\n## 1.2.3 (2026-11-22)\n\n- Now.\n\n## 1.2.2\n\n- Old.\n';
  expect(releaseNotes('v1.2.3', '1.2.3', changelog)).toBe('- Now.\n');
  expect(() => releaseNotes('v1.2.4', '1.2.3', changelog)).toThrow(
    'the tag must be v1.2.3, as in package.json',
  );
  expect(() => releaseNotes('v1.2.5', '1.2.5', changelog)).toThrow('CHANGELOG.md has no section "## 1.2.5"');
  const soon = changelog.replace('(2026-11-22)', '(unreleased)');
  expect(() => releaseNotes('v1.2.3', '1.2.3', soon)).toThrow('CHANGELOG.md says that 1.2.3 is unreleased');
});
