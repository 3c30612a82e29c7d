// The manual page, as groff reads it.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { SETTINGS } from '#server/platform/settings.ts';
import { runCli } from '../helpers/cli.ts';

async function render(page: string): Promise<{ stdout: string; stderr: string }> {
  const groff = spawn('groff', ['-man', '-Tascii', '-P-cbou', '-ww'], {
    env: { PATH: process.env['PATH'] ?? '' },
  });
  groff.stdin.end(page);
  const [stdout, stderr] = await Promise.all([text(groff.stdout), text(groff.stderr)]);
  return { stdout, stderr };
}

test('the manual page has every command and setting, and no mistake of roff', async () => {
  const { stdout: page } = await runCli(['manual']);
  const { stdout, stderr } = await render(page.replaceAll('…', '...').replaceAll('–', '-'));
  expect(stderr).toBe('');
  for (const heading of ['NAME', 'SYNOPSIS', 'COMMANDS', 'EXIT STATUS', 'ENVIRONMENT', 'EXAMPLES'])
    expect(stdout).toMatch(new RegExp(`^${heading}$`, 'mu'));
  expect(stdout).toMatch(/license-desk license create \[options\]/u);
  // It does something itself, and has commands below it.
  expect(stdout).toMatch(/license-desk backup \[options\]/u);
  expect(stdout).toMatch(/--holder <name>\n +Person or organization .* \(required\)/u);
  expect(stdout).toContain("KEY=$(license-desk license create --holder 'Acme Ltd' --output license_key)");
  for (const { env } of Object.values(SETTINGS)) expect(stdout).toContain(env);
  expect(stdout).toMatch(/^ +20 +verify: key_distrusted|^ +20 +Verify: key_distrusted/mu);
});
