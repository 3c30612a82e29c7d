// The workflows in .github, as far as they can be checked without GitHub. `npm run ci:linux` runs their Linux steps.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { REPLACED_ACTIONS, REPLACED_STEPS } from '../scripts/ci/local-steps.mjs';
import {
  matrixRows,
  readWorkflow,
  readWorkflowText,
  type Step,
  type Workflow,
  workflowNames,
} from '../scripts/ci/workflow.mjs';
import { lanes } from '../scripts/long-lanes.mjs';
import { interpolate } from '../scripts/ci/workflow-expressions.mjs';

// The parser imports its schema in a way that only bundlers accept.
registerHooks({
  load: (url, context, nextLoad) =>
    nextLoad(
      url,
      /workflow-parser\/.*\.json$/u.test(url) ? { ...context, importAttributes: { type: 'json' } } : context,
    ),
});
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } =
  await import('@actions/workflow-parser');

const project = resolve(import.meta.dirname, '..');
const readProject = (file: string) => readFileSync(join(project, file), 'utf8');
const manifest = JSON.parse(readProject('package.json')) as {
  scripts: Record<string, string>;
  devDependencies: Record<string, string>;
};
const PLATFORMS = ['linux-arm64', 'linux-x64', 'macos-arm64', 'macos-x64', 'windows-x64'];

interface PlacedStep {
  workflow: string;
  job: string;
  step: Step;
  matrix: Record<string, string>;
  shell: string;
}

/** Each step of each row of each matrix. */
const stepsOf = (name: string, workflow: Workflow): PlacedStep[] =>
  Object.entries(workflow.jobs).flatMap(([job, content]) =>
    matrixRows(content).flatMap((matrix) =>
      (content.steps ?? []).map((step) => {
        const shell = step.shell ?? workflow.defaults?.run.shell ?? 'none';
        return { workflow: name, job, step, matrix, shell };
      }),
    ),
  );

const all = workflowNames().flatMap((name) => stepsOf(name, readWorkflow(name)));

/** As the runner would start it; what is not of the matrix is left empty. */
const scriptOf = ({ step, matrix }: PlacedStep): string =>
  interpolate(step.run ?? '', { matrix, inputs: {}, env: {}, github: {}, runner: {}, secrets: {} });

/** What GitHub's own parser finds wrong: keys, types, needs, expressions and their contexts. */
async function problemsOf(name: string, content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name, content }, new NoOperationTraceWriter());
  if (value) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

/** Commands that a script starts with `node` or `npm run`, and files of ours that it starts itself. */
function missingParts(script: string): string[] {
  const files = [...script.matchAll(/(?:^|[\s"'])((?:\.\/)?(?:scripts|test)\/[\w./-]+\.\w+)/gmu)];
  const commands = [...script.matchAll(/\bnpm run (?:-s )?([\w:-]+)/gu)];
  const tools = [...script.matchAll(/\bnpx ([\w-]+)/gu)];
  return [
    ...files.map(([, file = '']) => file).filter((file) => !existsSync(join(project, file))),
    ...commands.map(([, command = '']) => command).filter((command) => !manifest.scripts[command]),
    ...tools
      .map(([, tool = '']) => tool)
      .filter((tool) => !existsSync(join(project, 'node_modules', '.bin', tool))),
  ];
}

describe('the workflows', () => {
  test('are these', () => {
    expect(workflowNames().toSorted()).toEqual(['long', 'package', 'publish', 'test']);
  });

  test.each(workflowNames())('%s is valid for GitHub’s own parser', async (name) => {
    expect(await problemsOf(name, readWorkflowText(name))).toEqual([]);
  });

  test('an invalid one is found', async () => {
    const text = readWorkflowText('test');
    expect(
      await problemsOf('test', text.replace('runs-on: ubuntu-24.04', 'run-on: ubuntu-24.04')),
    ).not.toEqual([]);
    const odd = text.replace('${{ inputs.tests }}', '${{ nothing.tests }}');
    expect(await problemsOf('test', odd)).not.toEqual([]);
  });

  test.each(workflowNames())('%s grants no more than it needs, and says what it competes with', (name) => {
    const workflow = readWorkflow(name);
    const writes = Object.entries(workflow.jobs).flatMap(([job, { permissions = {} }]) =>
      Object.entries(permissions)
        .filter(([, access]) => access !== 'read')
        .map(([permission]) => `${job}: ${permission}`),
    );
    expect(workflow.permissions).toEqual(name === 'publish' ? {} : { contents: 'read' });
    expect(writes).toEqual(
      name === 'publish' ? ['release: contents', 'release: id-token', 'release: attestations'] : [],
    );
    expect(workflow.concurrency?.group).toContain('github.ref');
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    for (const job of Object.values(workflow.jobs)) {
      expect(job.secrets).not.toBe('inherit');
      if (!job.uses) expect(job['timeout-minutes']).toBeGreaterThan(0);
    }
  });

  test('pin every action by its commit, with its version beside it', () => {
    for (const name of workflowNames()) {
      const lines = readWorkflowText(name).match(/^.*\buses: (?!\.\/).*$/gmu) ?? [];
      expect(lines.length).toBeGreaterThan(0);
      expect(
        lines.filter((line) => !/uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/u.test(line)),
      ).toEqual([]);
    }
    const versions = new Map<string, Set<string>>();
    for (const { step } of all) {
      const [action = '', commit = ''] = step.uses?.split('@') ?? [];
      versions.set(action, (versions.get(action) ?? new Set()).add(commit));
    }
    expect([...versions].filter(([, commits]) => commits.size > 1)).toEqual([]);
  });

  test('keep no credentials in the checkout', () => {
    const checkouts = all.filter(({ step }) => step.uses?.startsWith('actions/checkout@'));
    expect(checkouts.length).toBeGreaterThan(0);
    expect(checkouts.filter(({ step }) => String(step.with?.['persist-credentials']) !== 'false')).toEqual(
      [],
    );
  });

  test('use every platform, each on its own runner', () => {
    for (const [name, job] of [
      ['test', 'electron'],
      ['package', 'package'],
    ] as const) {
      const content = readWorkflow(name).jobs[job];
      const rows = matrixRows(content!);
      expect(rows.map((row) => row['name']).toSorted()).toEqual(PLATFORMS);
      expect(new Set(rows.map(({ runner }) => runner)).size).toBe(PLATFORMS.length);
      for (const { name: row = '', desktop } of rows) {
        expect(String(desktop)).toMatch(row.startsWith('linux-') ? /^xvfb-run / : /^$/u);
      }
      // What would be skipped without Electron is an error there.
      expect(content?.env?.['LICENSE_DESK_REQUIRE_ELECTRON']).toBe('1');
    }
  });

  test('run on the Node of the product', () => {
    const version = manifest.devDependencies['node'];
    const given = all
      .filter(({ step }) => step.uses?.startsWith('actions/setup-node@'))
      .map(({ step }) => step.with?.['node-version']);
    const images = workflowNames().flatMap((name) =>
      Object.values(readWorkflow(name).jobs).flatMap(({ container }) => container?.image ?? []),
    );
    expect(new Set(given)).toEqual(new Set([version]));
    expect(new Set(images)).toEqual(new Set([`node:${version}-bookworm`]));
  });

  test('run every long lane, and leave each the time that it may take', () => {
    const { lane } = readWorkflow('long').jobs;
    expect(matrixRows(lane!).map((row) => row['name'])).toEqual(lanes.map(({ name }) => name));
    expect(lane?.['timeout-minutes']).toBeGreaterThan(20 + Math.max(...lanes.map(({ minutes }) => minutes)));
  });

  test('run, in a lane, every test file that runs only some of its cases in `npm test`', () => {
    const inLanes = new Set(lanes.flatMap(({ testFiles = [] }) => testFiles));
    const shortened = globSync('test/**/*.{test,spec}.ts', { cwd: project }).filter((file) =>
      /from '[./]+helpers\/long-(?:lane|test)\.ts'/u.test(readProject(file)),
    );
    expect(shortened.length).toBeGreaterThan(20);
    expect(shortened.filter((file) => !inLanes.has(file))).toEqual([]);
  });

  test('start only what is there', () => {
    expect(missingParts('node scripts/nothing.mjs && npm run nothing && npx nothing')).toEqual([
      'scripts/nothing.mjs',
      'nothing',
      'nothing',
    ]);
    const runs = all.filter(({ step }) => step.run);
    expect(runs.length).toBeGreaterThan(50);
    expect(runs.flatMap((placed) => missingParts(scriptOf(placed)))).toEqual([]);
    // A shell script that nobody may execute.
    for (const file of ['scripts/ci/on-wayland.sh', 'scripts/ci/with-keyring.sh']) {
      execFileSync('bash', ['-n', join(project, file)]);
      expect(execFileSync('stat', ['-c', '%A', join(project, file)], { encoding: 'utf8' })).toContain('x');
    }
  });

  test('have scripts that a shell can read, for every row of the matrix', () => {
    const scripts = new Set(all.filter(({ step, shell }) => step.run && shell === 'bash').map(scriptOf));
    expect(scripts.size).toBeGreaterThan(20);
    for (const script of scripts) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' });
      expect(`${status} ${stderr}`, script).toBe('0 ');
      expect(script).not.toContain('${{');
    }
    expect(all.filter(({ step, shell }) => step.run && !['bash', 'pwsh'].includes(shell))).toEqual([]);
  });

  test('hand secrets and what others write to scripts through the environment only', () => {
    const inScripts = all.filter(({ step }) =>
      /\$\{\{[^}]*\b(?:secrets|github|inputs)\b/u.test(step.run ?? ''),
    );
    expect(inScripts.map(({ step }) => step.name)).toEqual([]);
  });

  test('use a release’s secrets in a release only', () => {
    const workflow = readWorkflow('package');
    const guarded = all
      .filter(({ workflow: name }) => name === 'package')
      .flatMap(({ step }) => Object.entries(step.env ?? {}))
      .filter(([, value]) => String(value).includes('secrets.'));
    expect(guarded.length).toBeGreaterThan(5);
    // `HAS_APPLE_API_KEY` is of a release itself.
    const HAS_KEY = /inputs\.release && |HAS_APPLE_API_KEY == 'true' && /u;
    const open = guarded.filter(([name, value]) => name !== 'KEY' && !HAS_KEY.test(String(value)));
    expect(open).toEqual([]);
    expect(
      Object.values(workflow.jobs['package']?.env ?? {}).filter((value) => /secrets\./u.test(value)),
    ).toEqual(expect.arrayContaining([expect.stringMatching(/^\$\{\{ inputs\.release && /u)]));
    const passed = readWorkflow('publish').jobs['package']?.secrets;
    expect(Object.keys(passed ?? {}).toSorted()).toEqual(
      Object.keys((workflow.on['workflow_call'] as { secrets: object }).secrets).toSorted(),
    );
  });

  test('publish a draft, with checksums, signatures and attestations, from a protected environment', () => {
    const { release } = readWorkflow('publish').jobs;
    const steps = release?.steps ?? [];
    const order = ['collect-release', 'sign-update', 'SHA256SUMS', 'gh release create'].map((part) =>
      steps.findIndex(({ run = '' }) => run.includes(part)),
    );
    expect(order.toSorted((a, b) => a - b)).toEqual(order);
    expect(order[0]).toBeGreaterThan(0);
    expect(steps.at(-1)?.run).toMatch(/gh release create "\$TAG" --draft --verify-tag/u);
    expect(steps.filter(({ uses = '' }) => uses.startsWith('actions/attest@'))).toHaveLength(2);
    expect(release).toMatchObject({ environment: 'release', needs: ['test', 'package'] });
  });
});

describe('the local run', () => {
  test('replaces only steps that are there, and every action', () => {
    const local = all.filter(({ workflow }) => workflow !== 'publish');
    const ids = local.map(({ step }) => step.id).filter((id) => id !== undefined);
    expect([...new Set(ids)].toSorted()).toEqual(Object.keys(REPLACED_STEPS).toSorted());
    const actions = all.flatMap(({ step }) => step.uses?.split('@')[0] ?? []);
    expect([...new Set(actions)].toSorted()).toEqual(Object.keys(REPLACED_ACTIONS).toSorted());
  });
});
