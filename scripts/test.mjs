/**
 * `npm test`: installs and builds what is missing, runs every suite even when one fails, and ends with the totals.
 * `npm test -- static` or `npm test -- lint browser` runs a part. Node 20 built-ins only.
 */
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { installTools } from './bootstrap.mjs';
import { buildIfStale } from './build.mjs';
import { run, untilAllEnd } from './child.mjs';
import { temporaryParent } from './temporary-parent.mjs';
import { ensureTestPrograms } from './test-programs.mjs';
import { countSuite, suites } from './test-suites.mjs';

/** A hanging suite must fail in reasonable time; some machines take four times as long as others. */
const SUITE_TIMEOUT_MS = 60 * 60_000;

/** @typedef {import('./test-suites.mjs').Counts & { name: string, seconds: number }} Result */

/** @type {Result[]} */
const results = [];

/** Set by Ctrl+C: nothing is started after it. */
let isInterrupted = false;

/** @param {readonly string[]} names suite names or kinds; none means all */
function select(names) {
  const unknown = names.find((name) => !suites.some((suite) => suite.name === name || suite.kind === name));
  if (unknown) {
    const known = suites.map(({ name }) => name).join(', ');
    throw new Error(`unknown suite "${unknown}"; choose from: static, tests, ${known}`);
  }
  return suites.filter(
    (suite) => names.length === 0 || names.includes(suite.name) || names.includes(suite.kind),
  );
}

/**
 * Installs the programs and builds the product that the tests need.
 *
 * @param {Promise<void>} driver
 */
async function prepareTests(driver) {
  const missing = await ensureTestPrograms();
  if (missing.length > 0) {
    process.stderr.write(`Not installed, so the tests that start it will fail: ${missing.join(', ')}\n`);
  }
  await buildIfStale();
  // A failure to install it is reported where it was started.
  await driver.catch(() => {});
}

/**
 * @typedef {object} RunOptions
 * @property {string} folder of the run: for its reports, and for all temporary files of its tests
 * @property {boolean} isBeside another suite, which needs the processors, too
 * @property {boolean} isLive what it says is printed at once, not at its end
 *
 * @param {import('./test-suites.mjs').Suite} suite
 * @param {RunOptions} options
 * @returns {Promise<Result>}
 */
async function runSuite(suite, { folder, isBeside, isLive }) {
  const heading = `\n── ${suite.name} ──\n`;
  const log = join(folder, `${suite.name}.log`);
  const output = isLive ? undefined : openSync(log, 'w');
  if (isLive) process.stdout.write(heading);
  const report = join(folder, `${suite.name}.json`);
  const started = Date.now();
  const [command = '', ...args] = [...suite.command, ...((isBeside && suite.besideArguments) || [])];
  const outcome = await run(command, [...args, ...(suite.reportArguments?.(report) ?? [])], {
    ...(output === undefined ? {} : { stdio: ['ignore', output, output] }),
    shell: process.platform === 'win32',
    env: { LICENSE_DESK_RUN_FOLDER: folder, ...suite.reportEnvironment?.(report) },
    ownGroup: true,
    timeoutMs: SUITE_TIMEOUT_MS,
  });
  if (output !== undefined) {
    closeSync(output);
    process.stdout.write(heading + readFileSync(log, 'utf8'));
  }
  isInterrupted ||= outcome.interrupted;
  if (isInterrupted) throw new Error('interrupted');
  const counts = countSuite(suite, outcome.code, report);
  return { name: suite.name, ...counts, seconds: (Date.now() - started) / 1000 };
}

function printSummary() {
  const row = (/** @type {readonly (string | number)[]} */ [name, ...cells]) =>
    `${String(name).padEnd(16)}${cells.map((cell) => String(cell).padStart(9)).join('')}\n`;
  process.stdout.write(`\n${row(['suite', 'passed', 'failed', 'skipped', 'seconds'])}`);
  for (const { name, passed, failed, skipped, seconds } of results) {
    process.stdout.write(row([name, passed, failed, skipped, seconds.toFixed(1)]));
  }
  const failures = results.flatMap(({ name, failures: named }) => named.map((each) => `${name}: ${each}\n`));
  if (failures.length > 0) process.stdout.write(`\nFailed:\n${failures.join('')}`);
}

function printTotals() {
  const total = (/** @type {'passed' | 'failed' | 'skipped'} */ key) =>
    results.reduce((sum, result) => sum + result[key], 0);
  const skipped = total('skipped') > 0 ? `, ${total('skipped')} skipped` : '';
  process.stdout.write(`\n${total('passed')} passed, ${total('failed')} failed${skipped}\n`);
  return total('failed');
}

/**
 * The tests wait a lot for servers and browsers, so two suites run side by side; the second begins after the static checks,
 * which run one after the other beside the first. Without tests, all checks run at once. The checks do not need the SQLite
 * driver.
 *
 * @param {readonly import('./test-suites.mjs').Suite[]} selected
 * @param {Promise<void>} driver
 */
async function runSuites(selected, driver) {
  const folder = mkdtempSync(join(temporaryParent(), 'desk-'));
  // The tests' PostgreSQL has its folder inside, and another user.
  chmodSync(folder, 0o755);
  const checks = selected.filter(({ kind }) => kind === 'static');
  const [first, ...others] = selected.filter(({ kind }) => kind === 'tests');
  /** @type {Map<string, Result>} */
  const done = new Map();
  const runOne = async (/** @type {import('./test-suites.mjs').Suite} */ suite, isLive = false) => {
    const isBeside = suite.kind === 'tests' && others.length > 0;
    done.set(suite.name, await runSuite(suite, { folder, isBeside, isLive }));
  };
  const runTests = async (/** @type {import('./test-suites.mjs').Suite} */ begin) => {
    // A failed build counts as one failure; the suites still run.
    const prepared = attempt('build', () => prepareTests(driver));
    const runFirst = async () => {
      await prepared;
      if (!isInterrupted) await runOne(begin, true);
    };
    const runOthers = async () => {
      for (const suite of checks) await runOne(suite);
      await prepared;
      if (isInterrupted) return;
      for (const suite of others) await runOne(suite);
    };
    await untilAllEnd([runFirst(), runOthers()]);
  };
  try {
    await (first ? runTests(first) : untilAllEnd(checks.map((suite) => runOne(suite, true))));
  } finally {
    results.push(...selected.flatMap(({ name }) => done.get(name) ?? []));
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/**
 * @param {string} name
 * @param {() => Promise<void>} work
 */
async function attempt(name, work) {
  try {
    await work();
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    process.stderr.write(`\n${name}: ${message}\n`);
    results.push({ name, passed: 0, failed: 1, skipped: 0, seconds: 0, failures: [message] });
  }
}

await attempt('run', async () => {
  const selected = select(process.argv.slice(2));
  const { driver } = await installTools();
  await untilAllEnd([runSuites(selected, driver), driver]);
});
printSummary();
process.exitCode = printTotals() > 0 ? 1 : 0;
