// The verifier as client software gets it: one bundle that needs nothing but web standards.
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { build, type Rolldown } from 'vite';
import { beforeAll, describe, expect, test } from 'vitest';
import type * as EmbeddedVerifier from './embedded-verifier.ts';
import { FINGERPRINT, ISSUED_AT, KEY, LICENSE, licenseFile } from './sample-license-file.ts';

const ENTRY = fileURLToPath(new URL('./embedded-verifier.ts', import.meta.url));

let code: string;
beforeAll(async () => {
  const [output] = (await build({
    configFile: false,
    logLevel: 'silent',
    build: { write: false, minify: false, lib: { entry: ENTRY, formats: ['iife'], name: 'verifier' } },
  })) as Rolldown.RolldownOutput[];
  code = output!.output[0].code;
});

/** Runs the bundle where there is no Node: no `process`, `require`, `Buffer` or `global`. */
function load(globals: Record<string, unknown> = {}): typeof EmbeddedVerifier {
  // TextEncoder is this realm's, so its arrays have to be too.
  const web = { TextEncoder, TextDecoder, Uint8Array, atob, btoa, ...globals };
  return runInNewContext(`${code}\n;verifier`, { ...web, self: web }) as typeof EmbeddedVerifier;
}

describe('the bundled verifier', () => {
  test('imports nothing', () => {
    expect(code).not.toMatch(/["']node:/);
    expect(code).not.toMatch(/^\s*import\b|\bimport\(/m);
  });

  test('is small', () => {
    expect(code.length).toBeLessThan(150_000);
  });

  test('verifies a file without WebCrypto, as in a page served over plain http', async () => {
    const { verifyLicenseFile, parsePublicKeys } = load();
    const keys = parsePublicKeys(KEY.publicKeyPem);
    const good = await verifyLicenseFile(licenseFile(), { keys, now: ISSUED_AT, fingerprint: FINGERPRINT });
    expect(good).toMatchObject({ valid: true, reason: null });
    expect(good.license).toEqual(LICENSE);
    const late = await verifyLicenseFile(licenseFile(), { keys, now: ISSUED_AT + 1e12 });
    expect(late).toMatchObject({ valid: false, reason: 'license_expired' });
  });

  test('decrypts a file with WebCrypto', async () => {
    const { verifyLicenseFile, parsePublicKeys } = load({ crypto });
    const secret = { licenseKey: LICENSE.license_key, fingerprint: FINGERPRINT };
    const options = { keys: parsePublicKeys(KEY.publicKeyPem), now: ISSUED_AT, ...secret };
    expect(await verifyLicenseFile(licenseFile({ encryptFor: secret }), options)).toMatchObject({
      valid: true,
    });
  });

  test('writes and reads requests', () => {
    const { formatMachineRequest, parseMachineRequest } = load();
    const request = {
      licenseKey: LICENSE.license_key,
      fingerprint: FINGERPRINT,
      nonce: 'n',
      issuedAt: ISSUED_AT,
    };
    expect(parseMachineRequest(formatMachineRequest(request, 'line'))).toEqual({ kind: 'request', request });
  });

  test('says what it lacks', async () => {
    const { verifyLicenseFile, parsePublicKeys } = load();
    const secret = { licenseKey: LICENSE.license_key, fingerprint: FINGERPRINT };
    const options = { keys: parsePublicKeys(KEY.publicKeyPem), now: ISSUED_AT, ...secret };
    await expect(verifyLicenseFile(licenseFile({ encryptFor: secret }), options)).rejects.toThrow(
      /WebCrypto/,
    );
  });
});
