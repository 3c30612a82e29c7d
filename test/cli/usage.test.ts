// What the program says when it is asked for help, or for something it cannot do; and what it loads to say so.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { SETTINGS } from '#server/platform/settings.ts';
import { VERSION } from '#server/installation/version.ts';
import { processIo } from '../../cli/command-io.ts';
import { createProgram } from '../../cli/program.ts';
import { RepeatableOption } from '../../cli/repeatable-option.ts';
import { cliOn, documentOf, runCli, spawnCli } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';

const folder = temporaryDirectory();

describe('help', () => {
  test('lists every command', async () => {
    const { stdout, stderr, exitCode } = await runCli(['--help']);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    const commands =
      'serve open doctor stats audit license plan token api-token public-key signing-key ' +
      'webhook events fingerprint request activate-offline verify server session completion manual';
    for (const command of commands.split(' ')) expect(stdout).toMatch(new RegExp(`^  ${command} `, 'mu'));
  });

  test('of serve has an option for every setting', async () => {
    const { stdout } = await runCli(['serve', '--help']);
    for (const { flag, env } of Object.values(SETTINGS)) {
      expect(stdout).toContain(` --${flag} `);
      expect(stdout.replaceAll(/\s+/gu, ' ')).toContain(`(${env})`);
    }
  });

  test('of a command names the options of all commands', async () => {
    const { stdout } = await runCli(['license', 'create', '--help']);
    expect(stdout).toMatch(/--holder <name> .*\s+.*\(required\)/u);
    expect(stdout).toContain('--data-dir <dir>');
    expect(stdout).toContain('--json');
  });
});

test('the help says which options can be repeated', () => {
  const options = (command: Command): Option[] => [
    ...command.options,
    ...command.commands.flatMap((one) => options(one)),
  ];
  const all = options(createProgram(processIo, { json: false, onHelp() {} }));
  const repeatable = all.filter((option) => option instanceof RepeatableOption);
  expect(repeatable.length).toBeGreaterThan(5);
  expect(all.filter(({ description }) => /\brepeat\b/u.test(description))).toEqual(repeatable);
});

test('the version is that of the package', async () => {
  expect(await runCli(['--version'])).toEqual({ stdout: `${VERSION}\n`, stderr: '', exitCode: 0 });
});

describe('wrong usage exits with 2', () => {
  test.each([
    ['an unknown command', ['licence', 'list'], "unknown command 'licence' (Did you mean license?)"],
    ['an unknown subcommand', ['license', 'destroy'], "unknown command 'destroy'"],
    ['no subcommand', ['license'], 'a command is missing; the help lists them'],
    ['an unknown option', ['license', 'list', '--colour', 'red'], "unknown option '--colour'"],
    ['a missing option', ['license', 'create'], '--holder <name> is required'],
    ['a missing argument', ['license', 'show'], '<ref> is required'],
    ['one argument too many', ['license', 'show', '1', '2'], 'too many arguments'],
    ['an option without its value', ['license', 'list', '--state'], '--state <state> needs a value'],
    ['an unknown state', ['license', 'list', '--state', 'sleeping'], '--state must be one of issued, active'],
    [
      'an unknown role',
      ['api-token', 'create', '--name', 'x', '--role', 'king'],
      '--role must be one of admin',
    ],
    [
      'two ends of a term',
      ['license', 'renew', '1', '--days', '3', '--expires-at', '2030-01-01'],
      'cannot be used with',
    ],
    ['days that are no number', ['license', 'renew', '1', '--days', 'ten'], 'must be a whole number'],
    [
      'a day that is none',
      ['license', 'renew', '1', '--expires-at', '2030-02-31'],
      'a date such as 2027-01-31',
    ],
    ['a token id that is no number', ['token', 'revoke', 'abc'], 'must be a whole number'],
    ['a plan without a name', ['plan', 'create', '--tier', '3'], '--name <name> is required'],
    ['a webhook without a URL', ['webhook', 'register'], '--url <url> is required'],
    [
      'an unknown scope',
      ['webhook', 'register', '--url', 'https://example.com', '--scope', 'license.born'],
      '--scope must be one of all, license.activated',
    ],
    ['a webhook id that is no number', ['webhook', 'test', 'abc'], 'must be a whole number'],
    [
      'an unknown status',
      ['events', 'list', '--status', 'lost'],
      '--status must be one of pending, delivering',
    ],
    ['an unknown event', ['events', 'list', '--event', 'all'], '--event must be one of license.activated'],
    ['a moment that is none', ['events', 'list', '--since', 'today'], 'a date such as 2027-01-31'],
    ['nothing to retry', ['events', 'retry'], 'give the ID of a delivery, or --all'],
    ['one to retry, and all', ['events', 'retry', '1', '--all'], 'cannot be used with --all'],
    [
      'one to retry, of a webhook',
      ['events', 'retry', '1', '--webhook', '2'],
      '--webhook, --since and --dry-run can only be used with --all',
    ],
    [
      'one to retry, since a moment',
      ['events', 'retry', '1', '--since', '2027-01-31'],
      '--webhook, --since and --dry-run can only be used with --all',
    ],
  ])('%s', async (_what, words, message) => {
    const failure = await cliOn(join(folder, 'never-made')).refuses(...words);
    expect(failure).toMatchObject({ ok: false, error_code: 'invalid_request' });
    expect(failure.message).toContain(message);
  });

  test('and says so on stderr only, in one line, without --json', async () => {
    const { stdout, stderr, exitCode } = await runCli(['license', 'create']);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: '',
      stderr: 'error: --holder <name> is required\n',
      exitCode: 2,
    });
  });
});

test('--json and --data-dir may stand before the command too', async () => {
  const dataDir = join(folder, 'leading');
  mkdirSync(dataDir);
  const result = await runCli(['--json', '--data-dir', dataDir, 'plan', 'list']);
  expect(documentOf(result)).toMatchObject({ ok: true, next_cursor: null });
});

test('a data directory that cannot be used fails with 1', async () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  const failure = await cliOn(file).fails('plan', 'list');
  expect(failure.error_code).toBe('invalid_request');
  expect(failure.message).toContain(file);
});

describe('starts without the service and its libraries', () => {
  /** V8 writes down every script that a process ran. */
  async function loadedPackages(name: string, words: readonly string[]): Promise<Set<string>> {
    const coverage = join(folder, `coverage-${name}`);
    await spawnCli(words, { env: { NODE_V8_COVERAGE: coverage } });
    const scripts = readdirSync(coverage).flatMap((file) => {
      const { result } = JSON.parse(readFileSync(join(coverage, file), 'utf8')) as {
        result: { url: string }[];
      };
      return result.map(({ url }) => url);
    });
    // In `node_modules`, or bundled as `npm.NAME-HASH.js`.
    const place = /.*\/(?:node_modules\/((?:@[^/]+\/)?[^/]+)|npm\.(.+)-.{8}\.js$)/u;
    return new Set(
      scripts.flatMap((url) => {
        const [, installed, bundled] = place.exec(url) ?? [];
        return installed ?? bundled ?? [];
      }),
    );
  }

  test.each([
    ['help', ['--help']],
    ['version', ['--version']],
    ['fingerprint', ['fingerprint']],
    ['request', ['request', '--license-key', 'X']],
    ['verify', ['verify', 'none', '--public-key', 'none']],
    ['usage', ['license', 'create']],
  ])('%s', async (name, words) => {
    const packages = await loadedPackages(name, words);
    expect(packages).toContain('commander');
    expect([...packages].filter((loaded) => !['commander', 'tweetnacl'].includes(loaded))).toEqual([]);
  });

  test('which a command that needs them does load', async () => {
    const dataDir = join(folder, 'loaded');
    mkdirSync(dataDir);
    const packages = await loadedPackages('plan-list', ['plan', 'list', '--data-dir', dataDir]);
    expect(packages).toContain('sequelize');
  });
});
