// Commands that cannot be undone ask at a terminal, and never in a script.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { lockDirectory } from '#server/database/directory-lock.ts';
import { asCommand } from '../helpers/as-command.ts';
import { atTerminal } from '../helpers/at-terminal.ts';
import { cliOn, runCli } from '../helpers/cli.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';

const dataDir = temporaryDirectory();
const cli = cliOn(dataDir);
const here = ['--data-dir', dataDir];

async function newLicense(holder = 'Acme'): Promise<string> {
  const { license } = await asCommand(dataDir, (admin) => admin.createLicense({ holder }));
  return String(license.license_id);
}

async function stateOf(ref: string): Promise<string> {
  return (await asCommand(dataDir, (admin) => admin.showLicense({ ref }))).license.state;
}

describe.skipIf(process.platform !== 'linux')('at a terminal', () => {
  test('revoke asks, and takes no for an answer', async () => {
    const id = await newLicense();
    const refused = await atTerminal(['license', 'revoke', id, ...here], { answer: 'n' });
    expect(refused.output).toContain(`Revoke license ${id}? This cannot be undone. [y/N]`);
    expect(refused.output).toContain('error: revoke canceled; nothing has changed');
    expect(refused.exitCode).toBe(1);
    expect(await stateOf(id)).toBe('issued');
    expect(await atTerminal(['license', 'revoke', id, ...here], { answer: 'y' })).toMatchObject({
      exitCode: 0,
    });
    expect(await stateOf(id)).toBe('revoked');
  });

  test('--yes answers the question', async () => {
    const id = await newLicense();
    const { output, exitCode } = await atTerminal(['license', 'revoke', id, '--yes', ...here]);
    expect(exitCode).toBe(0);
    expect(output).not.toContain('[y/N]');
    expect(await stateOf(id)).toBe('revoked');
  });

  test('tables fit the width', async () => {
    await newLicense('Ústav soudního lékařství a toxikologie');
    const { output } = await atTerminal(['license', 'list', ...here], { columns: 80 });
    const lines = output.split('\r\n').filter(Boolean);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect([...line].length).toBeLessThanOrEqual(80);
    expect(output).toMatch(/Ústav .*…/u);
    expect((await runCli(['license', 'list', ...here])).stdout).toContain('Ústav soudního lékařství a toxi');
  });
});

describe('in a script', () => {
  test('commands of the contract do not ask', async () => {
    const id = await newLicense();
    expect(await cli.ok('license', 'revoke', id)).toMatchObject({ license: { state: 'revoked' } });
  });

  test('bulk-revoke requires --yes, and changes nothing without it', async () => {
    const ids = [await newLicense(), await newLicense()];
    const failure = await cli.refuses('license', 'bulk-revoke', ...ids);
    expect(failure.message).toBe(
      'bulk-revoke asks for confirmation, and there is no terminal to ask on; add --yes',
    );
    expect(await stateOf(ids[0]!)).toBe('issued');
    const done = ids.map(Number);
    expect(await cli.ok('license', 'bulk-revoke', ...ids, '--yes')).toEqual({
      ok: true,
      done,
      failed: [],
      unknown: [],
    });
    expect(await stateOf(ids[1]!)).toBe('revoked');
  });
});

test.skipIf(process.platform !== 'linux')(
  'a command at a terminal says that it waits for another process',
  async () => {
    const lock = await lockDirectory(dataDir);
    let isReleased = false;
    const { output, exitCode } = await atTerminal(['license', 'count', ...here], {
      async onOutput(text) {
        if (isReleased || !text.includes('Waiting for the other License Desk process on')) return;
        isReleased = true;
        await lock?.release();
      },
    });
    expect({ isReleased, exitCode }).toEqual({ isReleased: true, exitCode: 0 });
    expect(output).toMatch(/ …\r\n\d+\r\n$/u);
  },
);

describe('--output', () => {
  test('prints one field of the reply', async () => {
    const words = ['license', 'create', '--holder', 'Acme', '--output', 'license_key', ...here];
    const created = await runCli(words);
    expect(created).toMatchObject({ exitCode: 0, stderr: '' });
    expect(created.stdout).toMatch(/^[0-9A-Z]{5}(?:-[0-9A-Z]{5}){4}\n$/u);
    const key = created.stdout.trim();
    expect((await runCli(['license', 'show', key, '--output', 'license.holder', ...here])).stdout).toBe(
      'Acme\n',
    );
    const listed = await runCli(['license', 'list', '--search', key, '--output', 'license_id', ...here]);
    expect(listed.stdout).toMatch(/^\d+\n$/u);
    const none = await runCli([
      'license',
      'list',
      '--search',
      'nobody at all',
      '--output',
      'license_id',
      ...here,
    ]);
    expect(none).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  });

  test('json is the same as --json, for failures too', async () => {
    const { stdout } = await runCli(['plan', 'list', '--output', 'json', ...here]);
    expect(stdout).toBe((await runCli(['plan', 'list', '--json', ...here])).stdout);
    const failure = await runCli(['license', 'show', '999', '--output', 'json', ...here]);
    expect(JSON.parse(failure.stdout)).toMatchObject({ ok: false, error_code: 'license_not_found' });
  });

  test('an unknown field fails before anything is changed', async () => {
    const count = async () => (await runCli(['license', 'count', ...here])).stdout;
    const before = await count();
    const words = ['license', 'create', '--holder', 'Acme', '--output', 'licence_key', ...here];
    expect(await runCli(words)).toMatchObject({ exitCode: 2, stdout: '' });
    expect(await count()).toBe(before);
  });

  test('a field that only the work can show to be missing loses nothing', async () => {
    const license = await newLicense();
    const out = join(temporaryDirectory(), 'client.pem');
    const words = ['cert', 'issue', '--license', license, '--common-name', 'A', '--out', out];
    const result = await runCli([...words, '--output', 'nothing', ...here]);
    expect(result).toMatchObject({ exitCode: 2, stdout: '' });
    expect(result.stderr).toContain(`Written to ${out}.`);
    expect(result.stderr).toContain('the command itself succeeded');
    expect(existsSync(out) && readFileSync(out, 'utf8')).toContain('PRIVATE KEY');
  });
});
