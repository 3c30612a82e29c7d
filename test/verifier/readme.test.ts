// What verifier/README.md tells people to paste works as pasted.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { envelopeOf, fileOf, FINGERPRINT, KEY, LICENSE, licenseFile } from './sample-license-file.ts';

const README = readFileSync(new URL('../../verifier/README.md', import.meta.url), 'utf8');
const HAS_PYTHON = spawnSync('python3', ['-c', 'import cryptography']).status === 0;

function block(language: string): string {
  const [, code] = README.match(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``)) ?? [];
  if (code === undefined) throw new Error(`The README has no ${language} block`);
  return code;
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'license-desk-readme-'));
  writeFileSync(join(folder, 'public-key.pem'), KEY.publicKeyPem);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the OpenSSL walk-through', () => {
  function walkThrough(file: string): string {
    writeFileSync(join(folder, 'license.lic'), file);
    return spawnSync('sh', ['-c', block('sh')], { cwd: folder, encoding: 'utf8' }).stdout;
  }

  test.each([
    ['its original line ends', licenseFile()],
    ['Windows line ends', licenseFile().replaceAll('\n', '\r\n')],
  ])('verifies a file with %s and prints its payload', (_name, file) => {
    const output = walkThrough(file);
    expect(output).toContain(`signed with key ${KEY.keyId}, ours is ${KEY.keyId}`);
    expect(output).toContain('Signature Verified Successfully');
    expect(output).toContain(JSON.stringify(LICENSE));
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
