// The data directory that is measured: seeded once, kept under out/bench-data, and copied for every run.
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { root } from '../../scripts/paths.mjs';
import { connect, type Database } from '#server/database/connect.ts';

export interface BenchData {
  dataDir: string;
  database: string;
  /** Files with a request body a line. */
  tokens: string;
  hotTokens: string;
  hotAuthorizations: string;
  enterpriseKeys: string[];
  /** Of valid licenses of other plans. */
  validKeys: string[];
}

const HOT = 10_000;
const ENTERPRISE_LICENSES = 1000;
const OTHER_LICENSES = 100_000;
const DATABASE = 'license-desk.db';
const SEED = join(root, 'scripts', 'seed.ts');

async function seed(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [SEED, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`seeding failed with exit code ${code}`);
}

async function rows<Row>(database: Database, sql: string): Promise<Row[]> {
  const [found] = await database.query(sql);
  return found as Row[];
}

const lines = (bodies: readonly object[]) => `${bodies.map((body) => JSON.stringify(body)).join('\n')}\n`;

/** Every nth: spread over old and new, good and revoked ones. */
function spread<Item>(items: readonly Item[], count: number): Item[] {
  const step = Math.max(1, items.length / count);
  return Array.from(
    { length: Math.min(count, items.length) },
    (_, index) => items[Math.floor(index * step)] as Item,
  );
}

/** Tokens were written license by license, so the products in the same order belong to them. */
async function tokenBodies(database: Database, tokensFile: string): Promise<object[]> {
  const products = await rows<{ product: string }>(database, 'SELECT product FROM licenses ORDER BY id');
  const bodies: object[] = [];
  for await (const token of createInterface({ input: createReadStream(tokensFile) })) {
    bodies.push({ token, product_slug: products[bodies.length]?.product });
  }
  return bodies;
}

async function prepare(folder: string, licenses: number): Promise<void> {
  const dataDir = join(folder, 'seeded');
  const tokensFile = join(folder, 'tokens.txt');
  await seed(['--data-dir', dataDir, '--licenses', String(licenses), '--tokens-out', tokensFile]);
  const database = await connect({ url: null, file: join(dataDir, DATABASE) });
  const bodies = await tokenBodies(database, tokensFile);
  await writeFile(join(folder, 'tokens.jsonl'), lines(bodies));
  await writeFile(join(folder, 'hot-tokens.jsonl'), lines(spread(bodies, HOT)));
  const devices = await rows<object>(
    database,
    `SELECT l.license_key, l.product AS product_slug, a.machine_fingerprint
     FROM activations a JOIN licenses l ON l.id = a.license_id WHERE a.released_at IS NULL`,
  );
  await writeFile(join(folder, 'hot-authorizations.jsonl'), lines(spread(devices, HOT)));
  await database.close();
  await rm(tokensFile);
}

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

/** A fresh copy for this run, in which no license is due for a notice. */
export async function prepareBenchData(licenses: number): Promise<BenchData> {
  const folder = join(root, 'out', 'bench-data', String(licenses));
  if (!existsSync(folder)) {
    const unfinished = `${folder}.unfinished`;
    await rm(unfinished, { recursive: true, force: true });
    await mkdir(unfinished, { recursive: true });
    await prepare(unfinished, licenses);
    await rename(unfinished, folder);
  }
  const dataDir = join(folder, 'run');
  const database = join(dataDir, DATABASE);
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { mode: 0o700 });
  await copyFile(join(folder, 'seeded', DATABASE), database);
  await seed(['--data-dir', dataDir, '--licenses', '0', '--due', '0']);
  // What copying left for the kernel to write must not slow down the first measurement.
  await promisify(execFile)('sync');
  return {
    dataDir,
    database,
    tokens: join(folder, 'tokens.jsonl'),
    hotTokens: join(folder, 'hot-tokens.jsonl'),
    hotAuthorizations: join(folder, 'hot-authorizations.jsonl'),
    enterpriseKeys: await validKeys(database, "= 'enterprise'", ENTERPRISE_LICENSES),
    validKeys: await validKeys(database, "<> 'enterprise'", OTHER_LICENSES),
  };
}
