/** What `npm test` runs, in order, and how each suite's result is counted. Node 20 built-ins only. */
import { existsSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 * @property {readonly string[]} failures the names of failed tests, each with its file and how its message begins
 *
 * @typedef {object} Suite
 * @property {string} name
 * @property {'static' | 'tests'} kind a static check counts as one test
 * @property {readonly string[]} command
 * @property {readonly string[]} [besideArguments] keep it from taking a machine for itself that another suite runs on
 * @property {(report: string) => readonly string[]} [reportArguments] tell the tool where to write its JSON report
 * @property {(report: string) => NodeJS.ProcessEnv} [reportEnvironment] the same, for a tool that wants it that way
 * @property {(report: any) => Counts} [count]
 */

const MESSAGE_LINES = 12;

/**
 * A log that was cut still has its end, so what failed is told there as well.
 *
 * @param {string} name
 * @param {string | undefined} message
 */
function describeFailure(name, message = '') {
  const lines = stripVTControlCharacters(message)
    .split('\n')
    .filter((line) => line.trim() !== '' && !line.includes('/node_modules/') && !line.includes('<anonymous>'))
    .slice(0, MESSAGE_LINES);
  return [name, ...lines.map((line) => `    ${line}`)].join('\n');
}

/**
 * A test file that cannot be loaded has no failed tests but counts as a failure.
 *
 * @param {{ numPassedTests: number, numPendingTests: number, numTodoTests: number,
 *   testResults: { name: string, status: string, message: string,
 *     assertionResults: { status: string, fullName: string, failureMessages: string[] }[] }[] }} report
 * @returns {Counts}
 */
function countVitest(report) {
  const failures = report.testResults
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative('.', name);
      const failed = assertionResults.filter(({ status }) => status === 'failed');
      return failed.length === 0
        ? [describeFailure(file, message)]
        : failed.map(({ fullName, failureMessages }) =>
            describeFailure(`${file}: ${fullName}`, failureMessages[0]),
          );
    });
  return {
    passed: report.numPassedTests,
    failed: failures.length,
    skipped: report.numPendingTests + report.numTodoTests,
    failures,
  };
}

/**
 * @typedef {{ title: string, file: string, line: number, ok: boolean,
 *   tests: { results: { error?: { stack?: string } }[] }[] }} PlaywrightSpec
 *
 * @typedef {{ suites?: PlaywrightSuite[], specs: PlaywrightSpec[] }} PlaywrightSuite
 *
 * @param {PlaywrightSuite} suite
 * @returns {string[]}
 */
function failedSpecs({ suites: parts = [], specs }) {
  const failed = specs
    .filter(({ ok }) => !ok)
    .map(({ title, file, line, tests }) => {
      const results = tests.flatMap(({ results: attempts }) => attempts);
      const stack = results.find(({ error }) => error)?.error?.stack;
      return describeFailure(`${file}:${line}: ${title}`, stack);
    });
  return [...failed, ...parts.flatMap(failedSpecs)];
}

/**
 * @param {{ stats: { expected: number, unexpected: number, flaky: number, skipped: number },
 *   errors: { message?: string }[], suites: PlaywrightSuite[] }} report
 * @returns {Counts}
 */
function countPlaywright({ stats, errors, suites: parts }) {
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: stats.skipped,
    failures: [...parts.flatMap(failedSpecs), ...errors.map(({ message }) => message ?? 'an error')],
  };
}

/** @type {readonly Suite[]} */
export const suites = [
  { name: 'format', kind: 'static', command: ['oxfmt', '--check'] },
  {
    name: 'lint',
    kind: 'static',
    command: ['oxlint', '--deny-warnings', '--report-unused-disable-directives'],
  },
  {
    name: 'types',
    kind: 'static',
    // TypeScript compares file contents, so its incremental build info is safe to use. With Node's small young generation,
    // half of the CPU time would go to garbage collection.
    command: [
      'node',
      '--max-semi-space-size=128',
      'node_modules/vue-tsc/bin/vue-tsc.js',
      '--noEmit',
      '--incremental',
      '--tsBuildInfoFile',
      'node_modules/.cache/types.tsbuildinfo',
    ],
  },
  { name: 'boundaries', kind: 'static', command: ['depcruise', '--config', '.dependency-cruiser.mjs', '.'] },
  { name: 'dead-code', kind: 'static', command: ['knip'] },
  {
    name: 'unit-api-cli',
    kind: 'tests',
    command: ['vitest', 'run', '--reporter=default', '--reporter=json'],
    // Beside two browsers, four workers need a third more CPU time for the same tests than two. But once the browsers have
    // ended, two leave a core idle.
    besideArguments: ['--maxWorkers=3'],
    reportArguments: (report) => [`--outputFile.json=${report}`],
    count: countVitest,
  },
  {
    name: 'browser',
    kind: 'tests',
    command: ['playwright', 'test', '--reporter=list,json'],
    besideArguments: ['--workers=2'],
    reportEnvironment: (report) => ({ PLAYWRIGHT_JSON_OUTPUT_FILE: report }),
    count: countPlaywright,
  },
];

/**
 * @param {Suite} suite
 * @param {number} exitCode
 * @param {string} report path of the JSON report, where the suite writes one
 * @returns {Counts} with at least one failure if the tool failed or ran nothing, even if its report has none
 */
export function countSuite(suite, exitCode, report) {
  const isFailed = exitCode !== 0;
  if (!suite.count || !existsSync(report)) {
    const passed = suite.count === undefined && !isFailed;
    return {
      passed: passed ? 1 : 0,
      failed: passed ? 0 : 1,
      skipped: 0,
      failures: passed ? [] : ['see above'],
    };
  }
  const counts = suite.count(JSON.parse(readFileSync(report, 'utf8')));
  const ranNothing = counts.passed + counts.failed === 0;
  if (counts.failed > 0 || !(isFailed || ranNothing)) return counts;
  return { ...counts, failed: 1, failures: [ranNothing ? 'no test was run' : `exit code ${exitCode}`] };
}
