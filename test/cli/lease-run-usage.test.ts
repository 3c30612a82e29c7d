import { describe, expect, it, test } from 'vitest';
import { startProblem } from '../../cli/lease-run/child-command.ts';
import { retryDelay } from '../../cli/lease-run/held-seat.ts';
import { runCli } from '../helpers/cli.ts';
import { startLicenseServerStub } from './license-server-stub.ts';

const KEY = '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP';

describe('on Windows, which starts batch files through its shell only', () => {
  it.each([
    ['npm', 'ENOENT', 127, 'npm: command not found; start a batch file with -- cmd /c npm'],
    [
      'build.CMD',
      'EINVAL',
      126,
      'cannot start build.CMD: EINVAL; start a batch file with -- cmd /c build.CMD',
    ],
    ['tool.exe', 'EACCES', 126, 'cannot start tool.exe: permission denied'],
  ])('%s fails with the way to start it, if there is one', (command, code, exitCode, problem) => {
    const error = Object.assign(new Error(code), { code });
    expect(startProblem(command, error, 'win32')).toEqual({ exitCode, problem });
  });
});

describe('wrong usage', () => {
  it.each([
    [['--license-key', KEY, '--', 'x'], '--server or LICENSE_DESK_SERVER is required'],
    [['--server', 'http://127.0.0.1:1', '--', 'x'], '--license-key or LICENSE_DESK_LICENSE_KEY is required'],
    [['--server', 'licenses', '--license-key', KEY, '--', 'x'], '--server must be a URL'],
    [['--server', 'ftp://x', '--license-key', KEY, '--', 'x'], '--server must begin with http'],
    [['--server', 'http://x', '--license-key', KEY, '--wait', 'soon', '--', 'x'], 'such as 90s, 10m or 2h'],
    [['--server', 'http://x', '--license-key', KEY, '--wait', '25h', '--', 'x'], 'up to 24 hours'],
    [['--server', 'http://x', '--license-key', KEY], '<command>'],
    [['--server', 'http://x', '--license-key', KEY, '--on-lost', 'ask', '--', 'x'], '--on-lost'],
  ])('%j', async (given, message) => {
    const result = await runCli(['lease', 'run', ...given]);
    expect(result.exitCode).toBe(2);
    expect(result.stderr).toContain(message);
  });

  it('a CA file that does not exist takes no seat', async () => {
    const { url, calls, close } = await startLicenseServerStub();
    const words = ['--server', url, '--license-key', KEY, '--ca', '/nonesuch.pem', '--', 'x'];
    const result = await runCli(['lease', 'run', ...words]);
    await close();
    expect(result.stderr).toContain('cannot read /nonesuch.pem');
    expect(calls('checkout')).toEqual([]);
  });
});

test('a server that cannot be reached is tried less and less often, never in step', () => {
  expect([1, 2, 3, 4, 5, 6, 7].map((failures) => retryDelay(failures, 0.5))).toEqual([
    1000, 2000, 4000, 8000, 16_000, 30_000, 30_000,
  ]);
  expect([retryDelay(1, 0), retryDelay(1, 1)]).toEqual([800, 1200]);
});
