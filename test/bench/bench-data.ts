// The data directories that are measured: copies of seeded ones, under out/bench-data.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../scripts/paths.mjs';
import { connect } from '#server/database/connect.ts';
import { hashSecret } from '#server/platform/secret-token.ts';
import { readBodies } from './read-bodies.ts';
import { DATABASE, rows, seed, type SeededData, seededData } from './seeded-data.ts';

export interface DataCopy extends SeededData {
  dataDir: string;
}

export interface BenchData extends DataCopy {
  enterpriseKeys: string[];
  /** Of valid licenses of other plans, whose tokens are not among the hot ones: they may be replaced. */
  validKeys: string[];
}

export const BENCH_DATA = join(root, 'out', 'bench-data');
const ENTERPRISE_LICENSES = 1000;
/** Enough to revoke 5,000 a second in the longest form. */
const OTHER_LICENSES = 200_000;

interface ValidLicense {
  key: string;
  tokenHash: string;
}

/** @param isPlan a condition on the plan's name */
async function validLicenses(file: string, isPlan: string, count: number): Promise<ValidLicense[]> {
  const database = await connect({ url: null, file });
  const found = await rows<ValidLicense>(
    database,
    `SELECT l.license_key AS key, t.token_hash AS "tokenHash" FROM licenses l JOIN plans p ON p.id = l.plan_id
     JOIN authorization_tokens t ON t.license_id = l.id AND t.status = 'active'
     WHERE p.name ${isPlan} AND l.revoked_at IS NULL AND l.expires_at > ${Date.now()} LIMIT ${count}`,
  );
  await database.close();
  return found;
}

const keysOf = (licenses: readonly ValidLicense[]) => licenses.map(({ key }) => key);

/** For this run. @param name of its folder @returns data in which no license is due for a notice */
export async function copySeededData(licenses: number, name: string): Promise<DataCopy> {
  const seeded = await seededData(licenses);
  const dataDir = join(BENCH_DATA, name);
  const database = join(dataDir, DATABASE);
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await copyFile(seeded.database, database);
  await seed(['--data-dir', dataDir, '--licenses', '0', '--due', '0']);
  // What copying left for the kernel to write must not slow down the first measurement.
  await promisify(execFile)('sync');
  return { ...seeded, dataDir, database };
}

/** A copy, and which of its licenses may be changed. */
export async function prepareBenchData(licenses: number): Promise<BenchData> {
  const copy = await copySeededData(licenses, String(licenses));
  const { database } = copy;
  const hot = new Set(
    readBodies(copy.hotTokens).map((body) => hashSecret((body as { token: string }).token)),
  );
  const others = await validLicenses(database, "<> 'enterprise'", OTHER_LICENSES);
  return {
    ...copy,
    enterpriseKeys: keysOf(await validLicenses(database, "= 'enterprise'", ENTERPRISE_LICENSES)),
    validKeys: keysOf(others.filter(({ tokenHash }) => !hot.has(tokenHash))),
  };
}
