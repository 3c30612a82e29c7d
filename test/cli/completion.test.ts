// Completion scripts, in the shells themselves.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { runCli } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';

const folder = temporaryDirectory('completion');
const scripts = {
  bash: join(folder, 'bash'),
  zsh: join(folder, '_license-desk'),
  fish: join(folder, 'fish'),
};
writeFileSync(join(folder, 'a-request.req'), '');

async function shell(program: string, words: readonly string[]): Promise<string> {
  const child = spawn(program, words, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TERM: 'dumb', LC_ALL: 'C.UTF-8' },
  });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(stderr).toBe('');
  return stdout;
}

const quoted = (word: string) => `'${word}'`;

/** What Tab offers after these words; the last one is begun. */
async function inBash(...words: string[]): Promise<string[]> {
  const line = ['license-desk', ...words].map(quoted).join(' ');
  const output = await shell('bash', [
    '--norc',
    '-c',
    `source ${scripts.bash}; COMP_WORDS=(${line}); COMP_CWORD=${words.length}; _license_desk; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ]);
  return output.split('\n').filter(Boolean);
}

async function inZsh(...words: string[]): Promise<string[]> {
  const capture = join(import.meta.dirname, 'capture-completion.zsh');
  const output = await shell('zsh', ['-f', capture, ['license-desk', ...words].join(' ')]);
  return [...new Set(output.split('\n').filter(Boolean))];
}

async function inFish(...words: string[]): Promise<string[]> {
  const line = ['license-desk', ...words].join(' ');
  const output = await shell('fish', [
    '--no-config',
    '-c',
    `source ${scripts.fish}; complete -C ${quoted(line)}`,
  ]);
  return output
    .split('\n')
    .filter(Boolean)
    .map((offer) => offer.split('\t')[0] as string);
}

beforeAll(async () => {
  for (const [name, file] of Object.entries(scripts)) {
    const { stdout, exitCode } = await runCli(['completion', name]);
    expect(exitCode).toBe(0);
    writeFileSync(file, stdout);
  }
});

describe.each([
  ['bash', inBash],
  ['zsh', inZsh],
  ['fish', inFish],
] as const)('%s', (_name, offered) => {
  test('completes commands', async () => {
    expect(await offered('lic')).toEqual(['license']);
    expect((await offered('license', 're')).toSorted()).toEqual(['release', 'renew', 'replace', 'revoke']);
  });

  test('completes options, after a value too', async () => {
    expect(await offered('license', 'create', '--hol')).toEqual(['--holder']);
    expect(await offered('license', 'create', '--holder', 'license', '--pl')).toEqual(['--plan']);
    expect(await offered('--data-dir', 'plan', 'license', 'list', '--sta')).toEqual(['--state']);
    expect(await offered('plan', 'list', '--outp')).toEqual(['--output']);
  });

  test('completes values of options and arguments', async () => {
    expect((await offered('license', 'list', '--state', 'i')).toSorted()).toEqual(['in_grace', 'issued']);
    expect(await offered('cert', 'revoke', '12', '--reason', 'key')).toEqual(['key_compromise']);
    expect(await offered('completion', 'z')).toEqual(['zsh']);
  });

  test('completes file names', async () => {
    expect(await offered('activate-offline', '--request', 'a-re')).toEqual(['a-request.req']);
    expect(await offered('verify', 'a-re')).toEqual(['a-request.req']);
  });

  test('offers nothing for a value that it cannot know', async () => {
    expect(await offered('license', 'create', '--holder', 'a-re')).toEqual([]);
  });
});

test.each([
  ['bash', ['-n', scripts.bash]],
  ['zsh', ['-n', scripts.zsh]],
  ['fish', ['--no-execute', scripts.fish]],
])('%s accepts the syntax', async (program, words) => {
  expect(await shell(program, words)).toBe('');
});
