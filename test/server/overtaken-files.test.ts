// License files whose calls wait behind another change: each is signed for what is true when its turn comes.
import { expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { activateDevice, newLicense, success } from '../helpers/contract-calls.ts';
import { databaseAt } from '../helpers/database.ts';
import { sharedServer } from '../helpers/shared-server.ts';

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
