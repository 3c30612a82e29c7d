// The values that the rules of a check compare, as the server and the verifier report them: each has a name on the page.
import { expect, test } from 'vitest';
import { texts } from '../../renderer/src/i18n/messages.ts';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import { activateDevice, adminSuccess, newFloatingLicense, newLicense } from '../helpers/contract-calls.ts';
import { sharedServer } from '../helpers/shared-server.ts';

const server = sharedServer();

interface Checked {
  rule: string;
  inputs: object;
}

async function allChecks(): Promise<Checked[]> {
  const { license_key: license } = await newLicense(server);
  const { license_file, activation } = await activateDevice(server, { license_key: license });
  const { machine_fingerprint } = activation;
  const explained = async (
    name: 'explainLicenseFile' | 'explainAuthorization' | 'explainCheckout',
    input: object,
  ) => ((await adminSuccess(server, name, { ...input })) as { rules: Checked[] }).rules;
  const keys = parsePublicKeys(JSON.stringify(await server.admin.publicKey({})));
  const asked = { product: 'default', feature: 'reports', fingerprint: machine_fingerprint };
  const lastSeen = { read: () => null, write: () => {} };
  const verified = await verifyLicenseFile(license_file, { ...asked, keys, lastSeen, now: Date.now() });
  const unknownKey = await verifyLicenseFile(license_file, { ...asked, keys: [], now: Date.now() });
  const floating = await newFloatingLicense(server);
  return [
    ...verified.checks,
    ...unknownKey.checks,
    ...(await explained('explainLicenseFile', {
      license_file,
      machine_fingerprint,
      product_slug: 'default',
    })),
    ...(await explained('explainLicenseFile', { license_file: 'no license file' })),
    ...(await explained('explainAuthorization', { license, machine_fingerprint, feature: 'reports' })),
    ...(await explained('explainCheckout', { license: floating.license_key })),
  ];
}

test('every value that a rule compares has a name', async () => {
  const checks = await allChecks();
  const produced = new Set(checks.flatMap(({ inputs }) => Object.keys(inputs)));
  const named = Object.keys(texts.en.compared.names);
  expect([...produced].filter((name) => !named.includes(name))).toEqual([]);
  expect(named.filter((name) => !produced.has(name))).toEqual([]);
});
