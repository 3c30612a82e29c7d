// A database that is migrated once for all tests, so that a server in a new data directory finds nothing to migrate.
import { createHash } from 'node:crypto';
import { copyFile, chmod, chown, mkdir, readdir, readFile, rename, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { DatabaseLocation } from '#server/database/connect.ts';

const project = resolve(import.meta.dirname, '../..');
const CACHE = join(project, 'node_modules/.cache/migrated-databases');

/** Another schema, another template: named by the names of the migrations and what they say. */
async function templateFile(): Promise<string> {
  const folder = join(project, 'server/database/migrations');
  const hash = createHash('sha256');
  for (const name of (await readdir(folder)).toSorted())
    hash.update(name).update(await readFile(join(folder, name)));
  return join(CACHE, `${hash.digest('hex').slice(0, 16)}.db`);
}

async function migrateAt(location: DatabaseLocation): Promise<void> {
  // Loaded only here, because the browser tests need nothing else of the server.
  const { connect } = await import('#server/database/connect.ts');
  const { migrate } = await import('#server/database/migrate.ts');
  const { createTransactions } = await import('#server/database/transaction.ts');
  const sequelize = await connect(location, { create: true });
  await migrate(sequelize, createTransactions(sequelize));
  // On SQLite, the last connection writes the log back and removes it.
  await sequelize.close();
}

/** @param url the address of an empty database */
export function migratePostgres(url: string): Promise<void> {
  return migrateAt({ url, file: '' });
}

/** Several test files may do so at once: each makes its own, and the last one stays. */
async function makeTemplate(file: string): Promise<void> {
  await mkdir(CACHE, { recursive: true });
  const made = `${file}.${process.pid}`;
  await migrateAt({ url: null, file: made });
  await rename(made, file);
}

let template: Promise<string> | undefined;

/** @param dataDir a new data directory */
export async function copyMigratedDatabase(dataDir: string): Promise<void> {
  template ??= (async () => {
    const file = await templateFile();
    await stat(file).catch(() => makeTemplate(file));
    return file;
  })();
  const database = join(dataDir, 'license-desk.db');
  await copyFile(await template, database);
  await chmod(database, 0o600);
  const { uid, gid } = await stat(dataDir);
  await chown(database, uid, gid);
}

/**
 * What a start on a new data directory saves.
 * @param dataDir left alone if it has anything in it, or is open to others: the server closes an open directory only
 *   while it is empty
 */
export async function prepareNewDirectory(dataDir: string): Promise<void> {
  const stats = await stat(dataDir).catch(() => null);
  if (!stats || (stats.mode & 0o077) !== 0 || (await readdir(dataDir)).length > 0) return;
  await copyMigratedDatabase(dataDir);
}
