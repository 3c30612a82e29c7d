// Seeded data directories: made once, kept in the user's cache folder, and used by every run and every checkout.
import { createHash } from 'node:crypto';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from '../../scripts/paths.mjs';
import { connect, type Database } from '#server/database/connect.ts';

export const DATABASE = 'license-desk.db';
const HOT = 10_000;
const SEED = join(root, 'scripts', 'seed.ts');
/** What the data follows from. */
const SOURCES = [
  'server/database/migrations',
  'scripts/seed.ts',
  'scripts/seed',
  'test/bench/seeded-data.ts',
];

export interface SeededData {
  database: string;
  /** Files with a request body a line. */
  tokens: string;
  hotTokens: string;
  hotAuthorizations: string;
}

export async function seed(args: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, [SEED, ...args], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`seeding failed with exit code ${code}`);
}

export async function rows<Row>(database: Database, sql: string): Promise<Row[]> {
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

async function make(folder: string, licenses: number): Promise<void> {
  const tokensFile = join(folder, 'tokens.txt');
  await seed(['--data-dir', folder, '--licenses', String(licenses), '--tokens-out', tokensFile]);
  const database = await connect({ url: null, file: join(folder, DATABASE) });
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

function filesBelow(path: string): string[] {
  try {
    return readdirSync(path)
      .toSorted()
      .flatMap((name) => filesBelow(join(path, name)));
  } catch {
    return [path];
  }
}

/** Other migrations or other seeding code make other data. */
function version(): string {
  const digest = createHash('sha256');
  for (const file of SOURCES.flatMap((source) => filesBelow(join(root, source))))
    digest.update(`${relative(root, file)}\0`).update(readFileSync(file));
  return digest.digest('hex').slice(0, 12);
}

export async function seededData(licenses: number): Promise<SeededData> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const parent = join(cache, 'license-desk', 'bench-data');
  const name = `${licenses}-${version()}`;
  const folder = join(parent, name);
  if (!existsSync(folder)) {
    await mkdir(parent, { recursive: true });
    const outdated = readdirSync(parent).filter((other) => other.startsWith(`${licenses}-`));
    for (const other of outdated) await rm(join(parent, other), { recursive: true, force: true });
    const unfinished = `${folder}.unfinished`;
    await mkdir(unfinished, { mode: 0o700 });
    await make(unfinished, licenses);
    await rename(unfinished, folder);
  }
  return {
    database: join(folder, DATABASE),
    tokens: join(folder, 'tokens.jsonl'),
    hotTokens: join(folder, 'hot-tokens.jsonl'),
    hotAuthorizations: join(folder, 'hot-authorizations.jsonl'),
  };
}
