// The far machine's half of an air-gapped activation: `fingerprint` and `request`.
import { existsSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { machineFingerprint } from '../../cli/machine-fingerprint.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import { parseMachineRequest, type MachineRequest } from '../../verifier/machine-request.ts';
import { documentOf, runCli } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';

const LICENSE_KEY = generateLicenseKey((size) => new Uint8Array(size).fill(5));
const SEED = 'a far machine';
const SEEDED = machineFingerprint({ seed: SEED }).fingerprint;
const OTHER = `sha256:${'0'.repeat(64)}`;

const folder = temporaryDirectory();

function setHostName(hostname: typeof os.hostname): void {
  os.hostname = hostname;
  syncBuiltinESMExports();
}

function requestIn(text: string): MachineRequest {
  const parsed = parseMachineRequest(text);
  if (parsed.kind !== 'request') throw new Error(parsed.problem);
  return parsed.request;
}

describe('fingerprint', () => {
  test('prints nothing but the fingerprint', async () => {
    const result = await runCli(['fingerprint', '--seed', SEED]);
    expect(result).toEqual({ exitCode: 0, stdout: `${SEEDED}\n`, stderr: '' });
  });

  test('takes the seed from the environment too', async () => {
    const result = await runCli(['fingerprint', '--json'], { env: { LICENSE_DESK_FINGERPRINT_SEED: SEED } });
    expect(documentOf(result)).toMatchObject({ ok: true, fingerprint: SEEDED });
  });

  test('explains what it is made from, without giving it away', async () => {
    const text = await runCli(['fingerprint', '--explain', '--seed', SEED]);
    expect(text.stdout).toMatch(/^seed +a f… \(13 characters\) +yes$/mu);
    expect(text.stdout).not.toContain(SEED);
    const document = documentOf(await runCli(['fingerprint', '--explain', '--seed', SEED, '--json']));
    expect(document).toMatchObject({
      ok: true,
      fingerprint: SEEDED,
      sources: expect.arrayContaining([
        { name: 'seed', masked: 'a f… (13 characters)', used: true },
      ]) as unknown,
    });
  });
});

describe('request', () => {
  const words = ['request', '--license-key', LICENSE_KEY, '--seed', SEED];

  test('writes a file that the license server can read', async () => {
    const path = join(folder, 'machine.req');
    const started = Date.now();
    const result = await runCli([
      ...words,
      '--out',
      path,
      '--product',
      'my-product',
      '--machine-name',
      'Far one',
      '--json',
    ]);
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    const written = readFileSync(path, 'utf8');
    const request = requestIn(written);
    expect(request).toMatchObject({
      licenseKey: LICENSE_KEY,
      fingerprint: SEEDED,
      product: 'my-product',
      machineName: 'Far one',
    });
    expect(request.issuedAt).toBeGreaterThanOrEqual(started);
    const document = documentOf<{ line: string }>(result);
    expect(document).toMatchObject({
      ok: true,
      file: path,
      request: written,
      license_key: LICENSE_KEY,
      machine_fingerprint: SEEDED,
      machine_name: 'Far one',
    });
    expect(requestIn(document.line)).toEqual(request);
  });

  test('names the machine after its host, and no two requests alike', async () => {
    const path = join(folder, 'named.req');
    const text = await runCli([...words, '--out', path]);
    expect(text.stdout).toContain(`Fingerprint:  ${SEEDED}`);
    const first = requestIn(readFileSync(path, 'utf8'));
    expect(first.machineName).toBe(os.hostname());
    expect(first).not.toHaveProperty('product');
    await runCli([...words, '--out', path]);
    expect(requestIn(readFileSync(path, 'utf8')).nonce).not.toBe(first.nonce);
  });

  test('prints one short line for a QR code', async () => {
    const { stdout, exitCode } = await runCli([...words, '--qr']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^LDR1\.[\w-]+\.[\w-]+\n$/u);
    expect(requestIn(stdout)).toMatchObject({ licenseKey: LICENSE_KEY, fingerprint: SEEDED });
  });

  test('prints the file itself for --out -', async () => {
    const { stdout } = await runCli([...words, '--out', '-']);
    expect(stdout).toMatch(/^-----BEGIN LICENSE REQUEST-----\n/u);
    expect(requestIn(stdout)).toMatchObject({ fingerprint: SEEDED });
    expect(existsSync('-')).toBe(false);
  });

  test('is for another machine if one is given', async () => {
    const { stdout } = await runCli([
      'request',
      '--license-key',
      LICENSE_KEY,
      '--qr',
      '--fingerprint',
      OTHER,
    ]);
    expect(requestIn(stdout).fingerprint).toBe(OTHER);
  });

  test.each([
    ['no license key', ['request', '--qr']],
    ['a mistyped license key', ['request', '--qr', '--license-key', LICENSE_KEY.replace('5', '6')]],
    ['neither --out nor --qr', words],
    [
      'a malformed fingerprint',
      ['request', '--license-key', LICENSE_KEY, '--qr', '--fingerprint', 'sha256:12'],
    ],
    ['a fingerprint and a seed', [...words, '--qr', '--fingerprint', OTHER]],
  ])('with %s is wrong usage', async (_what, wrong) => {
    const result = await runCli([...wrong, '--json']);
    expect(result.exitCode).toBe(2);
    expect(documentOf(result)).toMatchObject({ ok: false, error_code: 'invalid_request' });
  });

  test.each([
    [
      '--product',
      'My Product',
      /^must be 1 to 64 lowercase letters, digits or hyphens \(got "?My Product"?\)$/u,
    ],
    ['--machine-name', 'x'.repeat(201), /^must be at most 200 characters \(got x+…/u],
    ['--machine-name', '', /^must not be empty/u],
  ])('that the server would refuse for its %s is not written', async (option, value, message) => {
    const path = join(folder, 'refused.req');
    const result = await runCli([...words, '--out', path, option, value]);
    expect(result.exitCode).toBe(2);
    expect(result.stderr.replace(`error: ${option} `, '').trimEnd()).toMatch(message);
    expect(existsSync(path)).toBe(false);
  });

  test('takes the first 200 characters of a long host name', async () => {
    const given = os.hostname;
    onTestFinished(() => setHostName(given));
    setHostName(() => 'h'.repeat(255));
    const { stdout } = await runCli([...words, '--qr']);
    expect(requestIn(stdout).machineName).toBe('h'.repeat(200));
  });

  test('says why it cannot write', async () => {
    const path = join(folder, 'no-such-folder', 'machine.req');
    const result = await runCli([...words, '--out', path, '--json']);
    expect(result.exitCode).toBe(1);
    expect(documentOf(result)).toMatchObject({ ok: false, error_code: 'invalid_request' });
    expect(result.stderr).toBe(`error: cannot write ${path}: no such file or directory\n`);
  });
});
