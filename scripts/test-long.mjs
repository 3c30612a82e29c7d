/**
 * `npm run test:long`: the tests that take minutes and are not part of `npm test`. Installs and builds what is missing,
 * runs every lane even when one fails, and ends with one table. Node 20 built-ins only.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { install } from './bootstrap.mjs';
import { buildIfStale } from './build.mjs';
import { run } from './child.mjs';
import { chromiumPath, HEADLESS_SHELL } from './chromium.mjs';
import { ensureCommands } from './debian-packages.mjs';
import { lanes } from './long-lanes.mjs';
import { nodePath } from './paths.mjs';
import { countSuite, suites } from './test-suites.mjs';

const COMMANDS = {
  [chromiumPath ?? HEADLESS_SHELL]: [HEADLESS_SHELL, 'fonts-liberation'],
  openssl: ['openssl'],
  faketime: ['faketime'],
  pg_lsclusters: ['postgresql'],
  nginx: ['nginx'],
  python3: ['python3'],
  debootstrap: ['debootstrap'],
  'systemd-nspawn': ['systemd-container'],
  lintian: ['lintian'],
};

/**
 * @typedef {{ check: string, rounds: number, checked: string, failures: string[], figures: string, skipped?: string }} Row
 *   as test/long/lane.ts declares it
 *
 * @typedef {import('./long-lanes.mjs').Lane} Lane
 */

/** A lane ends itself at its time limit, and is killed this much later. */
const GRACE_MS = 2 * 60_000;

function readOptions() {
  const { values } = parseArgs({
    options: {
      /** Names of lanes, separated by commas. */
      only: { type: 'string' },
      seed: { type: 'string', default: '1' },
      rounds: { type: 'string' },
      requests: { type: 'string' },
      /** The first round or scenario, to repeat a part of a run. */
      from: { type: 'string', default: '0' },
      /** Time limit of each lane. */
      minutes: { type: 'string' },
    },
  });
  const names = values.only?.split(',') ?? lanes.map(({ name }) => name);
  const unknown = names.find((name) => !lanes.some((lane) => lane.name === name));
  if (unknown !== undefined) {
    throw new Error(`unknown lane "${unknown}"; lanes: ${lanes.map(({ name }) => name).join(', ')}`);
  }
  const { only, ...numbers } = values;
  for (const [name, value] of Object.entries(numbers)) {
    if (!/^\d+(?:\.\d+)?$/u.test(value)) throw new Error(`--${name} must be a number (got ${value})`);
  }
  return { selected: lanes.filter(({ name }) => names.includes(name)), values };
}

/** @param {readonly string[]} testFiles */
const suiteOf = ([file = '']) =>
  /** @type {import('./test-suites.mjs').Suite} */ (
    suites.find(({ name }) => name === (file.endsWith('.spec.ts') ? 'browser' : 'unit-api-cli'))
  );

/**
 * @typedef {{ count: number, minutes: number, report: string }} Extent
 *
 * @param {Lane} lane
 * @param {Extent} extent
 * @param {ReturnType<typeof readOptions>['values']} values
 * @returns {{ command: string[], env: NodeJS.ProcessEnv }}
 */
function invocationOf({ program = '', testFiles }, { count, minutes, report }, { seed, from }) {
  if (testFiles === undefined) {
    const options = Object.entries({ seed, from, count, minutes, report });
    return { command: [nodePath, program, ...options.map(([name, value]) => `--${name}=${value}`)], env: {} };
  }
  const suite = suiteOf(testFiles);
  const { command, reportArguments, reportEnvironment } = suite;
  return {
    command: [
      ...command,
      ...testFiles,
      ...(suite.name === 'browser' ? ['--project=chromium'] : []),
      ...(reportArguments?.(report) ?? []),
    ],
    // On the disk, and not in memory as `npm test`: here, the disk is part of what is tested.
    env: {
      LICENSE_DESK_ROUNDS: String(count),
      LICENSE_DESK_RUN_FOLDER: tmpdir(),
      ...reportEnvironment?.(report),
    },
  };
}

/**
 * @param {Lane} lane
 * @param {Extent} extent
 * @param {number} exitCode
 * @returns {Row[]}
 */
function rowsOf({ name, checked = 'runs to its end', testFiles }, { count, report }, exitCode) {
  const about = { check: name, rounds: count, checked };
  if (testFiles) {
    const { passed, failed, skipped, failures } = countSuite(suiteOf(testFiles), exitCode, report);
    const figures = `${passed} tests passed, ${failed} failed, ${skipped} skipped`;
    return [{ ...about, failures: [...failures], figures }];
  }
  const failure = { ...about, failures: [`exit code ${exitCode}`], figures: '' };
  if (!existsSync(report)) return [failure];
  const content = /** @type {Row[]} */ (JSON.parse(readFileSync(report, 'utf8')));
  const hasFailure = content.some(({ failures }) => failures.length > 0);
  return exitCode === 0 || hasFailure ? content : [...content, failure];
}

/**
 * @param {Lane} lane
 * @param {string} folder
 * @param {ReturnType<typeof readOptions>['values']} values
 * @returns {Promise<Row[]>}
 */
async function runLane(lane, folder, values) {
  const extent = {
    count: Number((lane.countedIn && values[lane.countedIn]) ?? lane.count),
    minutes: Number(values.minutes ?? lane.minutes),
    report: join(folder, `${lane.name}.json`),
  };
  process.stderr.write(`\n── ${lane.name} ──\n`);
  const {
    command: [command = '', ...args],
    env,
  } = invocationOf(lane, extent, values);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const started = Date.now();
  const outcome = await run(command, args, {
    stdio: ['ignore', 2, 2],
    env,
    ownGroup: true,
    onSpawn: (child) => {
      // SIGTERM, so that the lane can end the servers that it started.
      timer = setTimeout(
        () => child.kill('SIGTERM'),
        extent.minutes * 60_000 + (lane.testFiles ? 0 : GRACE_MS),
      );
    },
  });
  clearTimeout(timer);
  if (outcome.interrupted) throw new Error('interrupted');
  const seconds = Math.round((Date.now() - started) / 1000);
  const rows = rowsOf(lane, extent, outcome.code);
  const [first] = rows;
  if (first) first.figures = [first.figures, `lane took ${seconds} s`].filter(Boolean).join('; ');
  return rows;
}

/** @param {readonly (Row & { lane: string })[]} rows */
function printTable(rows) {
  const cells = rows.map(({ lane, check, rounds, checked, failures, figures, skipped }) => {
    const result = failures.length > 0 ? 'FAILED' : skipped === undefined ? 'passed' : `skipped: ${skipped}`;
    return [lane, check, String(rounds), checked, result, figures];
  });
  const heading = ['lane', 'check', 'rounds', 'what was checked', 'result', 'figures'];
  const widths = heading.map((text, column) =>
    Math.max(text.length, ...cells.map((row) => (row[column] ?? '').length)),
  );
  const line = (/** @type {readonly string[]} */ row) =>
    `| ${row.map((text, column) => text.padEnd(widths[column] ?? 0)).join(' | ')} |\n`;
  process.stdout.write(`\n${line(heading)}${line(widths.map((width) => '-'.repeat(width)))}`);
  for (const row of cells) process.stdout.write(line(row));
  const failed = rows.filter(({ failures }) => failures.length > 0);
  for (const { lane, check, failures } of failed) {
    process.stdout.write(`\n${lane}, ${check}:\n${failures.slice(0, 5).join('\n')}\n`);
  }
  process.stdout.write(`\n${rows.length - failed.length} passed or skipped, ${failed.length} failed\n`);
  return failed.length;
}

/** @returns null after printing a message for invalid options */
function optionsOrUsage() {
  try {
    return readOptions();
  } catch (error) {
    process.stderr.write(
      `error: ${/** @type {Error} */ (error).message}\n` +
        'usage: npm run test:long -- [--only LANES] [--seed N] [--rounds N] [--requests N] [--from N] [--minutes N]\n' +
        `lanes: ${lanes.map(({ name }) => name).join(', ')}\n`,
    );
    return null;
  }
}

const options = optionsOrUsage();
if (options === null) process.exit(2);
const { selected, values } = options;
const folder = mkdtempSync(join(tmpdir(), 'license-desk-long-'));
/** @type {(Row & { lane: string })[]} */
const rows = [];
try {
  await install();
  const missing = await ensureCommands(COMMANDS);
  if (missing.length > 0) process.stderr.write(`Not installed: ${missing.join(', ')}\n`);
  await buildIfStale();
  for (const lane of selected) {
    rows.push(...(await runLane(lane, folder, values)).map((row) => ({ ...row, lane: lane.name })));
  }
} catch (error) {
  const failures = [/** @type {Error} */ (error).message];
  rows.push({ lane: 'run', check: 'run', rounds: 0, checked: 'all lanes run', failures, figures: '' });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(`\nSeed ${values.seed}, repeat with: npm run test:long -- --seed ${values.seed}\n`);
process.exitCode = printTable(rows) > 0 ? 1 : 0;
