// The shell blocks of README.md and of the guides, pasted in order into bash and zsh in a clean checkout. Those of the
// guides run in zsh only in `npm run test:long`; otherwise zsh reads them and skips their programs.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sourceFolders } from '../scripts/build.mjs';
import { builtCli, findOnPath, root } from '../scripts/paths.mjs';
import { isLongLane } from './helpers/long-lane.ts';
import { type ShellBlock, shellBlocks } from './helpers/shell-blocks.ts';
import { within } from './helpers/within.ts';

interface Page {
  page: string;
  blocks: ShellBlock[];
}

const guides = readdirSync(join(root, 'docs/guide')).map((name) => `docs/guide/${name}`);
const [readme, ...guidePages] = ['README.md', ...guides.toSorted()].map((page) => ({
  page,
  blocks: shellBlocks(page, readFileSync(join(root, page), 'utf8')),
})) as [Page, ...Page[]];
const pages = [readme, ...guidePages];

/** As a terminal has them: zsh without comments, bash with `!` in double quotes. */
const SHELLS = { bash: ['--norc', '--noprofile', '-i'], zsh: ['-f', '-i'] };
/** Instead of every program. Only a comment is still a mistake: without a terminal's settings, zsh has none. */
const SKIP_PROGRAMS = `path=()
command_not_found_handler() { [[ $1 = '#'* ]] && print -u2 "zsh: command not found: $1"; return 0 }
`;
const MISTAKE = /^.*(?:not found|no matches found|parse error|bad pattern|syntax error|deprecated).*$/mu;

const CHECKOUT = [
  ...sourceFolders,
  'scripts',
  'out',
  '.gitignore',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'electron.vite.config.ts',
];

interface Checkout {
  folder: string;
  env: Record<string, string | undefined>;
}

function checkOut(): Checkout {
  const parent = mkdtempSync(join(tmpdir(), 'license-desk-docs-'));
  onTestFinished(() => rmSync(parent, { recursive: true, force: true }));
  const [folder, home, bin] = [join(parent, 'checkout'), join(parent, 'home'), join(parent, 'bin')] as const;
  for (const made of [folder, home, bin]) mkdirSync(made);
  // A benchmark leaves gigabytes of data beside the build.
  const filter = (path: string) => basename(path) !== 'bench-data';
  for (const name of CHECKOUT) cpSync(join(root, name), join(folder, name), { recursive: true, filter });
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  const command = join(bin, 'license-desk');
  writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${builtCli}' "$@"\n`, { mode: 0o755 });
  const ours = Object.entries(process.env).filter(([name]) => !/^(?:npm_|LICENSE_DESK_)/iu.test(name));
  const env = {
    ...Object.fromEntries(ours),
    HOME: home,
    PATH: [bin, process.env['PATH']].join(delimiter),
    // What an installed command finds by itself.
    LICENSE_DESK_DATA_DIR: join(folder, 'desk-data'),
  };
  return { folder, env };
}

function untracked({ folder }: Checkout): string[] {
  const list = ['ls-files', '--others', '--exclude-standard'];
  return execFileSync('git', list, { cwd: folder, encoding: 'utf8' }).split('\n');
}

/** @returns where the API is, once the server in the block is ready */
async function serve(shell: string, block: ShellBlock, { folder, env }: Checkout): Promise<string> {
  const child = spawn(shell, ['-c', block.text], {
    cwd: folder,
    env: { ...env, LICENSE_DESK_PORT: '0', LICENSE_DESK_ADMIN_PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const closed = once(child, 'close');
  const end = () => process.kill(-child.pid!, 'SIGTERM');
  process.once('exit', end);
  onTestFinished(async () => {
    process.off('exit', end);
    end();
    await within('the end of the server', closed);
  });
  const [line] = (await within(block.place, once(createInterface(child.stdout), 'line'))) as [string];
  return new URL((JSON.parse(line) as { api: string }).api).origin;
}

/** @returns what the commands print; fails if one of them does */
async function paste(
  shell: keyof typeof SHELLS,
  blocks: ShellBlock[],
  { folder, env }: Checkout,
  opening = 'set -e -o pipefail\n',
): Promise<string> {
  const child = spawn(shell, SHELLS[shell], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk) => (stdout += chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const texts = blocks.map(({ place, text }) => `${text}\nprintf '\\n%s\\n' 'done: ${place}'\n`);
  child.stdin.on('error', () => {}).end(opening + texts.join(''));
  await within(blocks[0]!.place, once(child, 'close'), { onTimeout: () => stdout + stderr });
  const failed = blocks.find(({ place }) => !stdout.includes(`\ndone: ${place}\n`));
  expect(failed?.place, `${stdout}\n${stderr}`).toBeUndefined();
  expect(MISTAKE.exec(stderr)?.[0], stderr).toBeUndefined();
  return stdout;
}

describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])('%s', (shell) => {
  test.skipIf(findOnPath(shell) === undefined)(
    'runs every shell block (skipped without the shell)',
    async () => {
      const checkout = checkOut();
      const before = untracked(checkout);
      let api = '';
      for (const { blocks } of shell === 'bash' || isLongLane ? pages : [readme]) {
        const server = blocks.find(({ runsOn }) => runsOn);
        if (server) api = await serve(shell, server, checkout);
        const runnable = blocks
          .filter(({ notRun, runsOn }) => notRun === null && !runsOn)
          .map((block) => ({ ...block, text: block.text.replaceAll('http://127.0.0.1:8787', api) }));
        if (runnable.length === 0) continue;
        const replies = await paste(shell, runnable, checkout);
        expect(replies).not.toContain('"ok":false');
        const calls = runnable.flatMap(({ text }) => text.match(/^curl .*\/svc\/|^curl .*\$API\//gmu) ?? []);
        if (calls.length > 0) expect(replies.match(/"ok":true/gu)).toHaveLength(calls.length);
      }
      expect(untracked(checkout)).toEqual(before);
    },
  );
});

test.skipIf(findOnPath('zsh') === undefined)('zsh reads every shell block of the guides', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-docs-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const { blocks } of guidePages) {
    if (blocks.length > 0) await paste('zsh', blocks, { folder, env: process.env }, SKIP_PROGRAMS);
  }
});

test('only blocks that cannot run here are left out', () => {
  const leftOut = pages.flatMap(({ blocks }) => blocks.filter(({ notRun }) => notRun !== null));
  expect(leftOut.map(({ place, notRun }) => `${place.replace(/:\d+$/u, '')}: ${notRun}`)).toEqual([
    'README.md: opens the app',
    'docs/guide/api.md: needs the npm registry',
    'docs/guide/backup.md: needs the server to be stopped',
    'docs/guide/backup.md: needs a folder on another disk',
    'docs/guide/floating-rules.md: needs a server with a floating license',
    'docs/guide/postgresql.md: needs a PostgreSQL server',
    'docs/guide/postgresql.md: needs a PostgreSQL server',
    'docs/guide/postgresql.md: needs a PostgreSQL server',
    'docs/guide/postgresql.md: needs a PostgreSQL server',
    'docs/guide/postgresql.md: needs a PostgreSQL server',
    'docs/guide/postgresql.md: needs a PostgreSQL server',
    'docs/guide/webhooks.md: needs a receiver on the internet',
    'docs/guide/webhooks.md: needs a receiver on the internet',
  ]);
});
