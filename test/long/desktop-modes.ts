// Runs the back office specs on every desktop that the stand-in for Electron imitates.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DESKTOPS } from '../e2e/desktop-app.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { type Lane, runLane } from './lane.ts';

const project = resolve(import.meta.dirname, '../..');
const CLI = join(project, 'node_modules/@playwright/test/cli.js');
/** The desktop without a name is Linux with X11 and a keyring. */
const MODES = ['default', ...Object.keys(DESKTOPS)];

interface Suite {
  title: string;
  suites?: Suite[];
  specs?: { title: string; ok: boolean; file: string; line: number }[];
}

interface Report {
  stats: { expected: number; unexpected: number; flaky: number; skipped: number; duration: number };
  suites: Suite[];
  errors: { message?: string }[];
}

const failuresOf = ({ suites = [], specs = [] }: Suite): string[] => [
  ...specs.filter(({ ok }) => !ok).map(({ file, line, title }) => `${file}:${line} ${title}`),
  ...suites.flatMap(failuresOf),
];

/** Playwright's report says what failed; its exit code only that something did. */
function runSpecs(mode: string, folder: string): Promise<Report> {
  const file = join(folder, `${mode}.json`);
  const env = {
    ...process.env,
    LICENSE_DESK_E2E_PLACE: 'stand-in',
    LICENSE_DESK_E2E_DESKTOP: mode === 'default' ? '' : mode,
    PLAYWRIGHT_JSON_OUTPUT_FILE: file,
  };
  const words = ['test', '--project=electron', '--workers=1', '--reporter=json'];
  const args = [CLI, ...words, `--output=${join(folder, mode)}`];
  return new Promise((done) => {
    const child = execFile(process.execPath, args, { cwd: project, env, maxBuffer: 2 ** 28 }, () => {
      process.off('exit', end);
      done(JSON.parse(readFileSync(file, 'utf8')) as Report);
    });
    const end = () => void child.kill('SIGTERM');
    process.once('exit', end);
  });
}

async function run({ count, from, isOutOfTime, report, note }: Lane): Promise<void> {
  const folder = temporaryDirectory('desktop-modes');
  for (const mode of MODES.slice(from, from + count)) {
    const about = { check: mode, checked: 'the back office specs pass over the stand-in' };
    if (isOutOfTime()) {
      report({ ...about, rounds: 0, failures: ['no time was left for it'], figures: '' });
      continue;
    }
    const { stats, suites, errors } = await runSpecs(mode, folder);
    const failures = [...suites.flatMap(failuresOf), ...errors.map(({ message = '' }) => message)];
    const ran = stats.expected + stats.unexpected + stats.flaky;
    if (ran === 0) failures.push('no spec ran');
    const figures = `${stats.expected} passed, ${stats.skipped} skipped, ${Math.round(stats.duration / 1000)} s`;
    note(`${mode}: ${figures}`);
    report({ ...about, rounds: ran, failures, figures });
  }
}

await runLane('desktop-modes', { count: MODES.length, minutes: 90 }, run);
