// The data directories that are measured: copies of seeded ones, under out/bench-data.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../scripts/paths.mjs';
import { connect } from '#server/database/connect.ts';
import { DATABASE, rows, seed, type SeededData, seededData } from './seeded-data.ts';

export interface BenchData extends SeededData {
  dataDir: string;
  enterpriseKeys: string[];
  /** Of valid licenses of other plans. */
  validKeys: string[];
}

export const BENCH_DATA = join(root, 'out', 'bench-data');
const ENTERPRISE_LICENSES = 1000;
const OTHER_LICENSES = 100_000;

/** @param isPlan a condition on the plan's name */
async function validKeys(file: string, isPlan: string, count: number): Promise<string[]> {
  const database = await connect({ url: null, file });
  const found = await rows<{ key: string }>(
    database,
    `SELECT l.license_key AS key FROM licenses l JOIN plans p ON p.id = l.plan_id
     WHERE p.name ${isPlan} AND l.revoked_at IS NULL AND l.expires_at > ${Date.now()} LIMIT ${count}`,
  );
  await database.close();
  return found.map(({ key }) => key);
}

/** A fresh copy for this run, in which no license is due for a notice. @param name of its folder */
export async function prepareBenchData(licenses: number, name = String(licenses)): Promise<BenchData> {
  const seeded = await seededData(licenses);
  const dataDir = join(BENCH_DATA, name);
  const database = join(dataDir, DATABASE);
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await copyFile(seeded.database, database);
  await seed(['--data-dir', dataDir, '--licenses', '0', '--due', '0']);
  // What copying left for the kernel to write must not slow down the first measurement.
  await promisify(execFile)('sync');
  return {
    ...seeded,
    dataDir,
    database,
    enterpriseKeys: await validKeys(database, "= 'enterprise'", ENTERPRISE_LICENSES),
    validKeys: await validKeys(database, "<> 'enterprise'", OTHER_LICENSES),
  };
}
