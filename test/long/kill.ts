// `kill -9` at random moments of a mixed write load, over and over on one data directory.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  killWhileStarting,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import { type Lane, runLane } from './lane.ts';
import { createRandom, type Random } from './random.ts';
import {
  createLedger,
  databaseFaults,
  type Ledger,
  ledgerFaults,
  NO_MARKS,
  readMarks,
} from './write-ledger.ts';
import { type Load, newLoad, repeatRenewals, runWriter } from './write-load.ts';

/** Enough for most changes to share a commit with others. */
const WRITERS = 32;
/** A round's load runs for up to this long before the kill. */
const LOAD_MS = 500;
/** How often a start is killed as well, and at which change of the data directory at the latest. */
const KILLED_STARTS = 0.1;
const START_CHANGES = 30;
const CHECK_ALL_EVERY = 50;

interface Totals {
  kills: number;
  killedStarts: number;
  confirmed: number;
  unanswered: number;
  fullChecks: number;
}

/** Loads the server and kills it at a random moment. */
async function loadUntilKilled(
  server: ServerProcess,
  load: Load,
  random: Random,
  name: string,
): Promise<void> {
  const writers = Array.from({ length: WRITERS }, (_, number) =>
    // Each with different numbers, in whatever order their replies come.
    runWriter(load, createRandom(random.integer(0x7fff_ffff), number), `${name}-${number}`),
  );
  const failed = Promise.all(writers);
  // Reported below, when the server is gone.
  failed.catch(() => {});
  await sleep(random.integer(LOAD_MS));
  const { code } = await server.kill('SIGKILL');
  if (code !== null) throw new Error(`the server ended by itself with exit code ${code}`);
  await failed;
}

async function run(lane: Lane): Promise<void> {
  const dataDir = temporaryDirectory();
  const stderrFile = join(dataDir, '..', 'server.log');
  const options = { dataDir, stderrFile, flags: { 'scan-seconds': '0.5', 'rate-limit': '0' } };
  const totals: Totals = { kills: 0, killedStarts: 0, confirmed: 0, unanswered: 0, fullChecks: 0 };
  const failures: string[] = [];
  const everything: Ledger = createLedger();
  let server = await startServerProcess(options);
  const { api_token: bearer } = await server.admin.createApiToken({ name: 'Kill', role: 'admin' });

  async function checkAll(): Promise<string[]> {
    totals.fullChecks += 1;
    return [...(await databaseFaults(dataDir)), ...(await ledgerFaults(dataDir, everything, NO_MARKS))];
  }

  async function round(number: number): Promise<string[]> {
    const random = createRandom(lane.seed, number);
    const marks = await readMarks(dataDir);
    const ledger = createLedger();
    // Each writer ends with the first write that is not answered.
    const load = newLoad({ server, bearer, ledger, isOver: () => false });
    await loadUntilKilled(server, load, random, `round-${number}`);
    totals.kills += 1;
    if (random.chance(KILLED_STARTS)) {
      await killWhileStarting(options, 1 + random.integer(START_CHANGES));
      totals.killedStarts += 1;
    }
    // Nobody else may open the database before: closing it would spare the server the recovery.
    server = await startServerProcess(options);
    const faults = await ledgerFaults(dataDir, ledger, marks);
    faults.push(...(await repeatRenewals({ ...load, server }, random)));
    faults.push(...(await ledgerFaults(dataDir, ledger, marks)));
    for (const [holder, entry] of ledger.licenses) everything.licenses.set(holder, entry);
    totals.confirmed += load.count.confirmed;
    totals.unanswered += load.count.unanswered;
    if ((number + 1) % CHECK_ALL_EVERY === 0) faults.push(...(await checkAll()));
    return faults.map((fault) => `round ${number}: ${fault}`);
  }

  let done = 0;
  for (; done < lane.count && failures.length === 0 && !lane.isOutOfTime(); done += 1) {
    failures.push(...(await round(lane.from + done)));
    if ((done + 1) % 20 === 0) lane.note(`${done + 1} rounds, ${totals.confirmed} confirmed writes`);
  }
  failures.push(...(await checkAll()));
  const { code } = await server.kill();
  if (code !== 0) failures.push(`the last server ended with exit code ${code}`);
  if (done < lane.count) failures.push(`${done} of ${lane.count} rounds`);
  lane.report({
    check: 'kill -9 under load',
    rounds: done,
    checked:
      'every confirmed write is there once, with its event and audit entry; renewals repeat; quick_check',
    failures,
    figures:
      `${totals.confirmed} writes confirmed, ${totals.unanswered} unanswered, ${totals.killedStarts} starts killed, ` +
      `${totals.fullChecks} full checks`,
  });
}

await runLane('kill', { count: 1000, minutes: 40 }, run);
