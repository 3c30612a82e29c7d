// Fills a data directory with realistic data: `npm run -s seed -- --data-dir DIR --licenses N [--tokens-out FILE]`.
import { createWriteStream } from 'node:fs';
import { resolve } from 'node:path';
import { finished } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { prepareDataDirectory, takeDataDirectory } from '#server/installation/data-directory.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { migrate } from '#server/database/migrate.ts';
import { sqliteConnection } from '#server/database/sequelize-internals.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { loadConfig } from '#server/platform/config.ts';
import { seedDatabase, type SeedOrder, type SeedSummary } from './seed/seed-database.ts';
import { withPromises } from './seed/sqlite-connection.ts';

const HELP = `Fills a data directory, fresh or not, with made-up licenses and all that belongs to them, for trials and load tests.

  npm run -s seed -- --data-dir DIR --licenses N [options]

  --data-dir DIR     the data directory; no server may be running on it
  --licenses N       how many licenses to add; 0 is allowed
  --tokens-out FILE  write the plaintext of the N active authorization tokens, one a line. One in eight belongs to a
                     license that is revoked or expired, one in eleven to another product than the default one:
                     those are answered with valid:false
  --due N            in the end exactly N licenses are due for a notice, and no others for half a day
  --seed NUMBER      other data; the same number makes the same data again (default 1)

Prints one line of JSON when done. Tokens and keys follow from the seed: never use such a directory in earnest.
`;

class UsageError extends Error {}

function count(name: string, text: string | undefined): number {
  if (text === undefined || !/^\d{1,8}$/u.test(text)) {
    throw new UsageError(
      `--${name} is ${JSON.stringify(text ?? null)}, but must be a whole number of at most 8 digits`,
    );
  }
  return Number(text);
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      'data-dir': { type: 'string' },
      licenses: { type: 'string' },
      'tokens-out': { type: 'string' },
      due: { type: 'string' },
      seed: { type: 'string', default: '1' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) return null;
  if (!values['data-dir']) throw new UsageError('--data-dir is required');
  return {
    dataDir: resolve(values['data-dir']),
    licenses: count('licenses', values.licenses),
    tokensOut: values['tokens-out'] ?? null,
    due: values.due === undefined ? null : count('due', values.due),
    seed: count('seed', values.seed),
  };
}

type Arguments = NonNullable<ReturnType<typeof readArguments>>;

/** Creates and migrates the database if necessary. After a failure, it stays open until the process exits. */
async function openAndSeed(location: DatabaseLocation, order: SeedOrder): Promise<SeedSummary> {
  const sequelize = await connect(location, { create: true });
  await migrate(sequelize, createTransactions(sequelize));
  const connection = await sqliteConnection(sequelize, 'seed');
  const summary = await seedDatabase(withPromises(connection), order);
  await sequelize.close();
  return summary;
}

async function seed({ dataDir, licenses, tokensOut, due, seed: number }: Arguments): Promise<void> {
  const config = loadConfig({ flags: { 'data-dir': dataDir }, env: process.env });
  if (databaseLocation(config).url !== null)
    throw new UsageError('only SQLite can be seeded; unset the database URL');
  prepareDataDirectory(dataDir);
  const lock = await takeDataDirectory(dataDir, 0);
  const started = Date.now();
  const tokens = tokensOut === null ? null : createWriteStream(tokensOut, { mode: 0o600 });
  const seconds = () => Math.round((Date.now() - started) / 100) / 10;
  try {
    const summary = await openAndSeed(databaseLocation(config), {
      licenses,
      seed: number,
      now: started,
      defaultProduct: config.defaultProduct,
      due,
      onToken: (plaintext) => tokens?.write(`${plaintext}\n`),
      onProgress: (message) => process.stderr.write(`${seconds().toFixed(1).padStart(6)} s  ${message}\n`),
    });
    if (tokens) await finished(tokens.end());
    process.stdout.write(
      `${JSON.stringify({ ok: true, data_dir: dataDir, ...summary, seconds: seconds() })}\n`,
    );
  } finally {
    await lock.release();
  }
}

try {
  const given = readArguments();
  if (given === null) process.stdout.write(HELP);
  else await seed(given);
} catch (error) {
  const isUsage =
    error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS') === true;
  process.stderr.write(`error: ${(error as Error).message}\n${isUsage ? `\n${HELP}` : ''}`);
  process.exitCode = isUsage ? 2 : 1;
}
