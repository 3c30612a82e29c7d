/** What `npm test` runs, in order, and how each suite's result is counted. Node 20 built-ins only. */
import { existsSync, readFileSync } from 'node:fs';

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
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

/**
 * A test file that cannot be loaded has no failed tests but counts as a failure.
 *
 * @param {{ numPassedTests: number, numFailedTests: number, numPendingTests: number, numTodoTests: number,
 *   testResults: { status: string, assertionResults: { status: string }[] }[] }} report
 * @returns {Counts}
 */
function countVitest(report) {
  const unloadable = report.testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloadable.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

/**
 * @param {{ stats: { expected: number, unexpected: number, flaky: number, skipped: number }, errors: unknown[] }} report
 * @returns {Counts}
 */
function countPlaywright({ stats, errors }) {
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: stats.skipped,
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
    // TypeScript compares file contents, so its incremental build info is safe to use.
    command: [
      'vue-tsc',
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
  if (!suite.count) return { passed: exitCode === 0 ? 1 : 0, failed: exitCode === 0 ? 0 : 1, skipped: 0 };
  if (!existsSync(report)) return { passed: 0, failed: 1, skipped: 0 };
  const counts = suite.count(JSON.parse(readFileSync(report, 'utf8')));
  const ranNothing = counts.passed + counts.failed === 0;
  return { ...counts, failed: Math.max(counts.failed, exitCode !== 0 || ranNothing ? 1 : 0) };
}
