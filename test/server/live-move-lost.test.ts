// A move to SQLite beside a running server whose connection breaks during its last commit: PostgreSQL may still carry it out.
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase, PATIENT } from '../helpers/postgres-database.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTcpRelay } from '../helpers/tcp-relay.ts';
import { startTestServer } from '../helpers/test-server.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

it.skipIf(!hasPostgres)(`changes are accepted after a move whose commit came late${why}`, async () => {
  const url = await newMigratedPostgresDatabase();
  const relayed = new URL(url + PATIENT);
  const relay = await startTcpRelay(Number(relayed.port));
  onTestFinished(() => relay.close());
  relayed.port = String(relay.port);
  const dataDir = temporaryDirectory();
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ database_url: relayed.href }), {
    mode: 0o600,
  });
  const server = await startTestServer({ dataDir });
  onTestFinished(() => server.stop());

  const marking = new Set<Socket>();
  const held = relay.holdBack((sent, connection) => {
    if (sent.includes('CREATE TABLE database_move')) marking.add(connection);
    return marking.has(connection) && sent.includes('COMMIT');
  });
  let hasEnded = false;
  const move = async () => {
    const result = await runCli(['move-database', '--to', 'sqlite', '--json', '--data-dir', dataDir]);
    hasEnded = true;
    return result;
  };
  const moving = move();
  const passOn = await held;
  // The server undoes the move, and waits for what becomes of the commit.
  await eventually(async () => {
    const waiting = await selectRows(
      url,
      "SELECT 1 FROM pg_locks WHERE NOT granted AND relation = CAST('signing_keys' AS regclass)",
    );
    expect(hasEnded || waiting.length > 0).toBe(true);
  });
  await passOn();
  expect((await moving).exitCode).not.toBe(0);

  await newLicense(server);
  expect(await selectRows(url, "SELECT to_regclass('database_move') AS mark")).toEqual([{ mark: null }]);
});
