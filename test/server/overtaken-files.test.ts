// License files whose calls wait behind another change: each is signed for what is true when its turn comes.
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import {
  activateDevice,
  adminSuccess,
  newFingerprint,
  newLicense,
  success,
} from '../helpers/contract-calls.ts';
import { databaseAt } from '../helpers/database.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { envelopeOf } from '../verifier/sample-license-file.ts';

const server = sharedServer();

/** Sends both calls while another program has locked the database. @returns the reply to the second one */
async function inLine<Result>(first: () => Promise<unknown>, second: () => Promise<Result>): Promise<Result> {
  const other = await connect(databaseAt(server.dataDir));
  onTestFinished(() => other.close());
  await other.query('BEGIN IMMEDIATE');
  const changing = first();
  // Reading is answered meanwhile, so the call has arrived.
  await server.admin.listSigningKeys({});
  const waiting = second();
  await server.admin.listSigningKeys({});
  await server.admin.listLicenses({});
  await other.query('ROLLBACK');
  await changing;
  return waiting;
}

const validate = (license_file: string) => success(server, 'validateOffline', { license_file });

async function distrustActiveKey(): Promise<void> {
  const { key_id } = await server.admin.publicKey({});
  await server.admin.distrustSigningKey({ key_id });
}

async function activated() {
  const license = await newLicense(server, { plan: 'professional' });
  const { license_file, activation } = await activateDevice(server, license);
  return { ref: license.license_key, license_file, machine_fingerprint: activation.machine_fingerprint };
}
type Activated = Awaited<ReturnType<typeof activated>>;

/** A file that is replaced by one under another key. */
async function outdatedFile({ ref, machine_fingerprint }: Activated, isBound = true): Promise<string> {
  const device = isBound ? { machine_fingerprint } : {};
  const { license_file } = await server.admin.issueLicenseFile({ license: ref, ...device });
  await server.admin.renewLicense({ ref, days: 100 });
  await server.admin.rotateSigningKey({});
  return license_file;
}

const revoke = ({ ref }: Activated) => server.admin.revokeLicense({ ref });
const release = ({ ref, machine_fingerprint }: Activated) =>
  server.admin.releaseDevice({ ref, machine_fingerprint });

it.each([
  { change: 'a revocation', file: 'its device', reason: 'license_revoked', first: revoke },
  { change: 'a revocation', file: 'any device', reason: 'license_revoked', first: revoke },
  { change: 'a release', file: 'its device', reason: 'machine_not_activated', first: release },
])('an outdated file for $file is not replaced after $change that came first', async (row) => {
  const device = await activated();
  const license_file = await outdatedFile(device, row.file === 'its device');
  const body = await inLine(
    () => row.first(device),
    () => validate(license_file),
  );
  expect(body).toMatchObject({ valid: false, reason: row.reason });
  expect(body).not.toHaveProperty('license_file');
});

it('an outdated file is not replaced after its key was distrusted first', async () => {
  const license_file = await outdatedFile(await activated());
  const { kid: key_id } = envelopeOf(license_file);
  const body = await inLine(
    () => server.admin.distrustSigningKey({ key_id }),
    () => validate(license_file),
  );
  expect(body).toMatchObject({ valid: false, reason: 'key_distrusted', license: null });
  expect(body).not.toHaveProperty('license_file');
});

/** @returns the call */
type Signing = (device: Activated) => Promise<() => Promise<{ license_file?: string }>>;

it.each<[string, Signing]>([
  [
    'an activation',
    async ({ ref }) =>
      () =>
        success(server, 'activate', { license_key: ref, machine_fingerprint: newFingerprint() }),
  ],
  [
    'an activation from a request',
    async ({ ref: licenseKey }) => {
      const issuedAt = Date.now();
      const request = formatMachineRequest({
        licenseKey,
        fingerprint: newFingerprint(),
        nonce: 'n0nce',
        issuedAt,
      });
      return () => adminSuccess(server, 'activateOffline', { request });
    },
  ],
  [
    'another activation of a device after a rotation',
    async ({ ref, machine_fingerprint }) => {
      await server.admin.rotateSigningKey({});
      return () => success(server, 'activate', { license_key: ref, machine_fingerprint });
    },
  ],
  [
    'the replacement of a device',
    async (device) => {
      const request = { ...device, license_file: undefined, new_machine_fingerprint: newFingerprint() };
      return () => adminSuccess(server, 'replaceDevice', request);
    },
  ],
  [
    'an order at the air-gap desk',
    async ({ ref: license, machine_fingerprint }) =>
      () =>
        adminSuccess(server, 'issueLicenseFile', { license, machine_fingerprint }),
  ],
  [
    'the replacement of an outdated file',
    async (device) => {
      const license_file = await outdatedFile(device);
      return () => validate(license_file);
    },
  ],
])('%s does not sign with a key that was distrusted first', async (_name, prepare) => {
  const call = await prepare(await activated());
  const { license_file } = await inLine(distrustActiveKey, call);
  const { key_id } = await server.admin.publicKey({});
  expect(envelopeOf(license_file ?? '').kid).toBe(key_id);
  expect(await validate(license_file ?? '')).toMatchObject({ valid: true });
});
