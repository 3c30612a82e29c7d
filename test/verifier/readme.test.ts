// What verifier/README.md tells people to paste works as pasted.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { machineFingerprint } from '../../cli/machine-fingerprint.ts';
import { envelopeOf, fileOf, FINGERPRINT, KEY, LICENSE, licenseFile } from './sample-license-file.ts';

const README = readFileSync(new URL('../../verifier/README.md', import.meta.url), 'utf8');
const HAS_PYTHON = spawnSync('python3', ['-c', 'import cryptography']).status === 0;

function block(language: string, word = ''): string {
  const blocks = README.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, 'gu'));
  const found = [...blocks].map(([, code = '']) => code).find((code) => code.includes(word));
  if (found === undefined) throw new Error(`The README has no ${language} block with "${word}"`);
  return found;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'license-desk-readme-'));
  writeFileSync(join(folder, 'public-key.pem'), KEY.publicKeyPem);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the OpenSSL walk-through', () => {
  function walkThrough(file: string, change = (commands: string) => commands): string {
    writeFileSync(join(folder, 'license.lic'), file);
    return spawnSync('sh', ['-c', change(block('sh'))], { cwd: folder, encoding: 'utf8' }).stdout;
  }

  test.each([
    ['its original line ends', licenseFile()],
    ['Windows line ends', licenseFile().replaceAll('\n', '\r\n')],
    ['a byte order mark', `\uFEFF${licenseFile()}`],
  ])('verifies a file with %s and prints its payload', (_name, file) => {
    const output = walkThrough(file);
    expect(output).toContain(`signed with key ${KEY.keyId}, ours is ${KEY.keyId}`);
    expect(output).toContain('Signature Verified Successfully');
    expect(output).toContain(JSON.stringify(LICENSE));
  });

  test('verifies a lease file with the prefix that the README names', () => {
    expect(README).toContain('For a lease file, write `lease/` in place of `license/`.');
    const { enc, ...envelope } = envelopeOf(licenseFile());
    const sig = Buffer.from(KEY.sign(Buffer.from(`lease/${enc}`))).toString('base64');
    const lease = fileOf({ ...envelope, enc, sig });
    const commands = (text: string) => text.replace("'license/'", "'lease/'");
    expect(walkThrough(lease)).not.toContain('Signature Verified Successfully');
    expect(walkThrough(lease, commands)).toContain('Signature Verified Successfully');
  });

  test('shows nothing of a forged file', () => {
    const envelope = envelopeOf(licenseFile());
    const output = walkThrough(fileOf({ ...envelope, enc: envelopeOf(licenseFile({ machine: null })).enc }));
    expect(output).not.toContain('Signature Verified Successfully');
    expect(output).not.toContain(LICENSE.license_key);
  });
});

test.runIf(HAS_PYTHON)('the Python program opens an encrypted file', () => {
  const secret = { licenseKey: LICENSE.license_key, fingerprint: FINGERPRINT };
  writeFileSync(join(folder, 'license.lic'), licenseFile({ encryptFor: secret }));
  const parameters = ['license.lic', 'public-key.pem', secret.licenseKey, secret.fingerprint];
  const output = execFileSync('python3', ['-c', block('python'), ...parameters], {
    cwd: folder,
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toMatchObject({ license: LICENSE });
});

describe('the fingerprint by hand', () => {
  const MACHINE_ID = '3d1219c7c4c5404aaa1f6d2a48adfda4';
  const system = {
    platform: 'linux',
    env: () => undefined,
    exists: () => false,
    readFile: (path: string) => (path === '/etc/machine-id' ? `${MACHINE_ID}\n` : null),
    run: () => null,
    cpuModel: () => '',
    networkAddresses: () => [],
  };
  const byHand = (change: (command: string) => string) =>
    `sha256:${execFileSync('sh', ['-c', change(block('sh', 'machine-id'))], { encoding: 'utf8' }).trim()}`;

  test('is that of `license-desk request`', () => {
    const id = join(folder, 'machine-id');
    writeFileSync(id, `${MACHINE_ID}\n`);
    const fingerprint = byHand((command) => command.replace('/etc/machine-id', id));
    expect(fingerprint).toBe(machineFingerprint({ system }).fingerprint);
  });

  test('is that of a seed', () => {
    const fingerprint = byHand((command) =>
      command.replace('machine-id=', 'seed=').replace('$(cat /etc/machine-id)', 'container 7'),
    );
    expect(fingerprint).toBe(machineFingerprint({ seed: 'container 7', system }).fingerprint);
  });
});

test('the payload in the README has the members of a license file', () => {
  const members = (payload: unknown) =>
    Object.entries(payload as object).map(([name, value]) => [name, Object.keys((value ?? {}) as object)]);
  const shown = JSON.parse(block('json')) as { license: object };
  const signed = JSON.parse(Buffer.from(envelopeOf(licenseFile()).enc, 'base64').toString()) as typeof shown;
  expect(members({ ...shown, license: null })).toEqual(members({ ...signed, license: null }));
  const named = Object.keys(shown.license).filter((name) => name !== '…');
  expect(Object.keys(signed.license)).toEqual(expect.arrayContaining(named));
});
