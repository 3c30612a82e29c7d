/**
 * `npm run ci:linux -- WORKFLOW [JOB] [--input NAME=VALUE]`: runs the Linux steps of a workflow in .github/workflows on
 * this machine, and lists the steps that it replaced or left out, with the reasons.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { install } from './bootstrap.mjs';
import { run } from './child.mjs';
import { root } from './paths.mjs';

const { values, positionals } = parseArgs({
  options: { input: { type: 'string', multiple: true, default: [] } },
  allowPositionals: true,
});
const [name, onlyJob] = positionals;
if (!name) {
  process.stderr.write('usage: npm run ci:linux -- WORKFLOW [JOB] [--input NAME=VALUE]\n');
  process.exit(2);
}
await install();
// Available only after the packages are installed.
const { REPLACED_ACTIONS, REPLACED_STEPS } = await import('./ci/local-steps.mjs');
const { interpolate, isTrue } = await import('./ci/workflow-expressions.mjs');
const { matrixRows, readWorkflow, workflowNames } = await import('./ci/workflow.mjs');
const { writePlaceholderElectron } = await import('./ci/placeholder-electron.mjs');

/** @typedef {import('./ci/workflow.mjs').Step} Step @typedef {import('./ci/workflow.mjs').Job} Job */
/** @typedef {{ job: string, step: string, result: 'ran' | 'replaced' | 'left out' | 'skipped' | 'FAILED', note: string }} Row */

/** @type {Row[]} */
const rows = [];
const temp = mkdtempSync(join(tmpdir(), 'license-desk-ci-'));
const electron = join(temp, 'electron');
const inputs = Object.fromEntries(values.input.map((one) => one.split(/=(.*)/su).slice(0, 2)));
const ARCHITECTURES = /** @type {Record<string, string>} */ ({ x64: 'X64', arm64: 'ARM64' });

/** @param {Record<string, string>} matrix */
function contextsFor(matrix) {
  return {
    inputs,
    // The stand-in draws nothing.
    matrix: { ...matrix, ...(matrix['desktop'] !== undefined && { desktop: '' }) },
    runner: { os: 'Linux', arch: ARCHITECTURES[process.arch] ?? process.arch, temp },
    github: { event_name: 'workflow_dispatch', ref: 'refs/heads/main', ref_name: 'main', token: '' },
    secrets: {},
    /** @type {Record<string, string>} */
    env: {},
  };
}

/** @typedef {ReturnType<typeof contextsFor>} Contexts */

/** @param {Record<string, string>} [env] @param {Contexts} [contexts] */
const evaluated = (env = {}, contexts = contextsFor({})) =>
  Object.fromEntries(Object.entries(env).map(([key, value]) => [key, interpolate(String(value), contexts)]));

/** @param {string} script @param {Record<string, string>} env as GitHub runs `shell: bash` */
async function runScript(script, env) {
  const file = join(temp, 'step.sh');
  writeFileSync(file, script);
  const { code } = await run('bash', ['--noprofile', '--norc', '-eo', 'pipefail', file], { env });
  return code;
}

/** The steps after it see what a step wrote to GITHUB_ENV. @param {string} file @param {Contexts} contexts */
function readEnvironmentFile(file, contexts) {
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const [key = '', value = ''] = line.split(/=(.*)/su);
    contexts.env[key] = value;
  }
}

/** @param {Step} step @param {Contexts} contexts @returns {string[]} patterns that match nothing, if some file must be there */
function findArtifacts(step, contexts) {
  const patterns = interpolate(step.with?.['path'] ?? '', contexts)
    .split('\n')
    .filter(Boolean);
  const found = patterns.filter((one) => !one.startsWith('!')).flatMap((one) => globSync(one, { cwd: root }));
  for (const file of found) process.stdout.write(`${file}\n`);
  return found.length === 0 && step.with?.['if-no-files-found'] === 'error' ? patterns : [];
}

/** @param {Step} step @param {Contexts} contexts @returns {Promise<Omit<Row, 'job' | 'step'>>} */
async function runStep(step, contexts) {
  if (!isTrue(step.if, contexts)) return { result: 'skipped', note: `if: ${step.if}` };
  const action = step.uses?.split('@')[0];
  const replacement = action ? REPLACED_ACTIONS[action] : REPLACED_STEPS[step.id ?? ''];
  if (action && !replacement) return { result: 'FAILED', note: `no local replacement for ${action}` };
  if (action === 'actions/upload-artifact') {
    const missing = findArtifacts(step, contexts);
    if (missing.length > 0) return { result: 'FAILED', note: `no files: ${missing.join(', ')}` };
  }
  const script = replacement && !replacement.env ? replacement.run : step.run;
  if (script === undefined) return { result: 'left out', note: replacement?.reason ?? '' };
  const file = join(temp, 'environment');
  writeFileSync(file, '');
  const code = await runScript(interpolate(script, contexts), {
    CI: 'true',
    ...contexts.env,
    ...evaluated(step.env, contexts),
    ...replacement?.env,
    ELECTRON_OVERRIDE_DIST_PATH: electron,
    PLACEHOLDER_FOLDER: join(temp, 'app-data'),
    RUNNER_TEMP: temp,
    GITHUB_ENV: file,
  });
  readEnvironmentFile(file, contexts);
  if (code !== 0) return { result: 'FAILED', note: `exit code ${code}` };
  return replacement ? { result: 'replaced', note: replacement.reason } : { result: 'ran', note: '' };
}

/** @param {string} id @param {Job} job @param {Record<string, string>} matrix @param {Record<string, string>} env of the workflow */
async function runJob(id, job, matrix, env) {
  const label = matrix['name'] ? `${id} (${matrix['name']})` : id;
  const contexts = contextsFor(matrix);
  contexts.env = evaluated({ ...env, ...job.env }, contexts);
  if (job.container) process.stdout.write(`Running on this machine instead of ${job.container.image}.\n`);
  let hasFailed = false;
  for (const step of job.steps ?? []) {
    const title = step.name ?? step.uses ?? step.run ?? '';
    if (hasFailed) {
      rows.push({ job: label, step: title, result: 'skipped', note: 'an earlier step failed' });
      continue;
    }
    process.stdout.write(`\n── ${label}: ${title} ──\n`);
    const outcome = await runStep(step, contexts);
    hasFailed = outcome.result === 'FAILED';
    rows.push({ job: label, step: title, ...outcome });
  }
}

/** @param {Record<string, string>} matrix */
const isOfThisMachine = ({ name: row }) => row === undefined || row === `linux-${process.arch}`;

try {
  if (!workflowNames().includes(name)) {
    throw new Error(`unknown workflow "${name}"; choose one of: ${workflowNames().join(', ')}`);
  }
  const workflow = readWorkflow(name);
  const jobs = Object.entries(workflow.jobs).filter(([id]) => onlyJob === undefined || id === onlyJob);
  if (jobs.length === 0)
    throw new Error(`unknown job "${onlyJob}"; choose one of: ${Object.keys(workflow.jobs).join(', ')}`);
  mkdirSync(electron);
  writePlaceholderElectron(electron);
  for (const [id, job] of jobs) {
    if (job.uses) rows.push({ job: id, step: job.uses, result: 'left out', note: 'a separate workflow' });
    else
      for (const matrix of matrixRows(job).filter(isOfThisMachine))
        await runJob(id, job, matrix, workflow.env ?? {});
  }
} catch (error) {
  rows.push({ job: name, step: '', result: 'FAILED', note: /** @type {Error} */ (error).message });
} finally {
  rmSync(temp, { recursive: true, force: true });
}

process.stdout.write('\n');
for (const { job, step, result, note } of rows) {
  process.stdout.write(`${result.padEnd(9)} ${job}: ${step}${note && ` (${note})`}\n`);
}
const failed = rows.filter(({ result }) => result === 'FAILED').length;
process.stdout.write(`\n${rows.length - failed} steps passed, replaced or left out, ${failed} failed\n`);
process.exitCode = failed > 0 ? 1 : 0;
