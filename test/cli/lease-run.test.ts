// `lease run`: the seat, the command and the signals, against a server that answers as each test needs it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { atTerminal } from '../helpers/at-terminal.ts';
import { CLI_PROGRAM, spawnCli } from '../helpers/cli.ts';
import { within } from '../helpers/within.ts';
import { type Answer, failure, GRANTED, grantedFor, startLicenseServerStub } from './license-server-stub.ts';

const KEY = '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP';
const NODE = process.execPath;

type Scripts = Parameters<typeof startLicenseServerStub>[0];

async function stub(scripts: Scripts = {}) {
  const server = await startLicenseServerStub(scripts);
  onTestFinished(() => server.close());
  return server;
}

function words(url: string, command: readonly string[], options: readonly string[] = []): string[] {
  return ['lease', 'run', '--server', url, '--license-key', KEY, ...options, '--', ...command];
}

/** A command that asks the stub what to do, and ends with the status minus 200. */
function asks(url: string): string[] {
  return [NODE, '-e', `require('node:http').get('${url}/command/', (r) => process.exit(r.statusCode - 200))`];
}

/** A `lease run` that goes on until the test ends it. */
function start(url: string, command: readonly string[], options: readonly string[] = []) {
  const child = spawn(NODE, [CLI_PROGRAM, ...words(url, command, options)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const end = new Promise<number | null>((done) => child.once('close', done));
  let stderr = '';
  let look = () => {};
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part;
    look();
  });
  const output = text(child.stdout);
  return {
    kill: (signal: NodeJS.Signals) => child.kill(signal),
    async end() {
      const exitCode = await within('the end of lease run', end);
      return { exitCode, stdout: await output, stderr };
    },
    /** Resolves as soon as the text is on stderr. */
    async said(message: string) {
      const heard = new Promise<void>((done) => {
        look = () => {
          if (stderr.includes(message)) done();
        };
        look();
      });
      await within(`the message ${message}`, heard, { onTimeout: () => stderr });
    },
  };
}

describe('the command', () => {
  it('gets its arguments and streams, and gives its exit code', async () => {
    const { url, calls } = await stub();
    const script =
      'process.stdin.pipe(process.stdout); console.error(process.argv.slice(1)); process.exitCode = 3';
    const command = [NODE, '-e', script, '--', '--json', 'a b'];
    const result = await spawnCli(words(url, command), { input: 'through' });
    expect(result).toEqual({ exitCode: 3, stdout: 'through', stderr: "[ '--json', 'a b' ]\n" });
    expect(calls('checkout')).toMatchObject([
      { license_key: KEY, instance_id: expect.stringMatching(/^[0-9a-f]{32}$/u) as string, wait_seconds: 0 },
    ]);
    expect(calls('release')).toEqual([{ lease_token: 'lds_stub' }]);
  });

  it('takes a new seat in every run', async () => {
    const { url, calls } = await stub();
    await spawnCli(words(url, [NODE, '-e', '']));
    await spawnCli(words(url, [NODE, '-e', ''], ['--user', 'ci', '--host', 'runner-1', '--units', '2']));
    const [first, second] = calls('checkout');
    expect(first?.instance_id).not.toBe(second?.instance_id);
    expect(second).toMatchObject({ user: 'ci', host: 'runner-1', units: 2 });
  });

  it('takes key and server from the environment', async () => {
    const { url, calls } = await stub();
    const env = { LICENSE_DESK_SERVER: url, LICENSE_DESK_LICENSE_KEY: KEY };
    const result = await spawnCli(['lease', 'run', '--feature', 'reports', '--', NODE, '-e', ''], { env });
    expect(result).toEqual({ exitCode: 0, stdout: '', stderr: '' });
    expect(calls('checkout')).toMatchObject([{ license_key: KEY, feature: 'reports' }]);
  });

  it.each([
    ['that does not exist', ['/nonesuch/tool'], 127, '/nonesuch/tool: command not found'],
    ['that is not executable', [], 126, 'permission denied'],
  ])('%s leaves no seat taken', async (_name, command, exitCode, message) => {
    const file = join(mkdtempSync(join(tmpdir(), 'license-desk-run-')), 'tool');
    writeFileSync(file, '#!/bin/sh\n', { mode: 0o644 });
    const { url, calls } = await stub();
    const result = await spawnCli(words(url, command.length === 0 ? [file] : command));
    expect(result.exitCode).toBe(exitCode);
    expect(result.stderr).toContain(message);
    expect(calls('release')).toHaveLength(1);
  });

  it('that a signal ends gives 128 and the number of the signal', async () => {
    const { url, calls } = await stub();
    const result = await spawnCli(words(url, [NODE, '-e', "process.kill(process.pid, 'SIGTERM')"]));
    expect(result.exitCode).toBe(143);
    expect(calls('release')).toHaveLength(1);
  });

  it('ends as usual if the seat cannot be released', async () => {
    const { url, calls } = await stub({ release: () => undefined });
    const result = await spawnCli(words(url, [NODE, '-e', 'process.exit(5)']));
    expect(result.exitCode).toBe(5);
    expect(result.stderr).toContain('the seat could not be released');
    expect(calls('release').length).toBeGreaterThan(1);
  });
});

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s reaches the command, then the seat is released',
    async (signal) => {
      const { url, called, calls } = await stub({ command: () => ({}) });
      const script = `process.on('${signal}', () => process.exit(7));
      require('node:http').get('${url}/command/'); setInterval(() => {}, 60_000);`;
      const running = start(url, [NODE, '-e', script]);
      await called('command', 1);
      running.kill(signal);
      expect((await running.end()).exitCode).toBe(7);
      expect(calls('release')).toHaveLength(1);
    },
  );

  it.skipIf(process.platform !== 'linux')(
    'by Ctrl+C is left to the terminal, although the input is a file',
    async () => {
      const typed = Promise.withResolvers<Answer>();
      const { url } = await stub({ command: () => typed.promise });
      // SIGTERM goes to `lease run` and back twice: signals that come at once may be handled in either order.
      const script = `let [interrupts, rounds] = [0, 0];
      const ask = () => process.kill(process.ppid, 'SIGTERM');
      const tell = () => { console.log('interrupts: ' + interrupts); process.exit(); };
      process.on('SIGINT', () => { interrupts += 1; });
      process.on('SIGTERM', () => { if (++rounds === 1) ask(); else setImmediate(tell); });
      require('node:http').get('${url}/command/', ask); setInterval(() => {}, 60_000); console.log('started');`;
      let isTyped = false;
      // In a separate session, where Ctrl+C does not reach it.
      const { output } = await atTerminal(words(url, ['setsid', NODE, '-e', script]), {
        input: '/dev/null',
        onOutput(shown, type) {
          if (shown.includes('^C')) typed.resolve({});
          if (isTyped || !shown.includes('started')) return;
          isTyped = true;
          type(String.fromCharCode(3));
        },
      });
      expect(output).toContain('interrupts: 0');
    },
  );

  it('ends the wait for a seat, and gives up the place', async () => {
    const queued = { queued: true, ticket: 'ldq_1', position: 1, poll_after_seconds: 60 };
    const { url, called, calls } = await stub({ checkout: () => ({ status: 202, body: queued }) });
    const running = start(url, asks(url), ['--wait', '10m']);
    await called('checkout', 1);
    running.kill('SIGINT');
    expect((await running.end()).exitCode).toBe(130);
    expect(calls('command')).toEqual([]);
    expect(calls('release')).toEqual([{ lease_token: 'ldq_1' }]);
  });

  it('during the checkout releases the seat and starts nothing', async () => {
    const reply = Promise.withResolvers<Answer>();
    const { url, called, calls } = await stub({ checkout: () => reply.promise });
    const running = start(url, asks(url));
    await called('checkout', 1);
    running.kill('SIGTERM');
    await running.said('SIGTERM received');
    reply.resolve(GRANTED);
    await called('release', 1);
    expect((await running.end()).exitCode).toBe(143);
    expect(calls('command')).toEqual([]);
  });
});

describe('without a free seat', () => {
  it('the command is not started', async () => {
    const { url, calls } = await stub({ checkout: () => failure(409, 'no_seat_available') });
    const result = await spawnCli([...words(url, asks(url))]);
    expect(result).toMatchObject({ exitCode: 125, stderr: 'error: stub: no_seat_available\n' });
    expect([calls('command'), calls('release')]).toEqual([[], []]);
  });

  it('it waits in the queue with its ticket', async () => {
    const queued = (position: number): Answer => ({
      status: 202,
      body: { queued: true, ticket: 'ldq_1', position, poll_after_seconds: 0.01 },
    });
    const answers = [queued(2), queued(2), queued(1)];
    const { url, calls } = await stub({ checkout: (_input, count) => answers[count - 1] ?? GRANTED });
    const result = await spawnCli(words(url, [NODE, '-e', ''], ['--wait', '10m']));
    expect(result).toMatchObject({
      exitCode: 0,
      stderr: 'license-desk: waiting for a seat, position 2\nlicense-desk: waiting for a seat, position 1\n',
    });
    expect(calls('checkout').map(({ ticket }) => ticket)).toEqual([undefined, 'ldq_1', 'ldq_1', 'ldq_1']);
    expect(new Set(calls('checkout').map(({ instance_id: instance }) => instance)).size).toBe(1);
    expect(calls('checkout')[0]).toMatchObject({ wait_seconds: 600 });
  });

  it('it leaves the queue when its time is up', async () => {
    const queued = { queued: true, ticket: 'ldq_1', position: 1, poll_after_seconds: 60 };
    const { url, calls } = await stub({
      checkout: ({ wait_seconds: wait }) =>
        wait === 0 ? failure(409, 'no_seat_available') : { status: 202, body: queued },
    });
    const result = await spawnCli(words(url, asks(url), ['--wait', '1s']));
    expect(result.exitCode).toBe(125);
    const last = calls('checkout').at(-1)!;
    expect([last.wait_seconds, last.ticket]).toEqual([0, undefined]);
  });

  it.each([
    ['denied_by_rule', 403],
    ['license_expired', 403],
    ['license_not_found', 404],
  ])('%s is not waited for', async (code, status) => {
    const { url, calls } = await stub({ checkout: () => failure(status, code) });
    const result = await spawnCli(words(url, asks(url), ['--wait', '1h']));
    expect(result.exitCode).toBe(125);
    expect(calls('checkout')).toHaveLength(1);
  });
});

describe('a server that cannot be reached', () => {
  it('is tried again until the waiting time ends', async () => {
    const { url, calls } = await stub({
      checkout: (_input, count) =>
        count === 1 ? { ...failure(503, 'overloaded'), headers: { 'retry-after': '0' } } : GRANTED,
    });
    const result = await spawnCli(words(url, [NODE, '-e', ''], ['--wait', '1m']));
    expect(result.exitCode).toBe(0);
    expect(calls('checkout')).toHaveLength(2);
  });

  it('or that a proxy reports as down for an hour is asked again while the lease lasts', async () => {
    const maintenance = { ...failure(503, 'unavailable'), headers: { 'retry-after': '3600' } };
    const enough = Promise.withResolvers<Answer>();
    const { url, calls } = await stub({
      checkout(_input, count) {
        if (count === 1)
          return {
            status: 202,
            body: { queued: true, ticket: 'ldq_1', position: 1, poll_after_seconds: 0.01 },
          };
        return count === 2 ? maintenance : grantedFor(0.01);
      },
      heartbeat(_input, count) {
        if (count === 1) return maintenance;
        enough.resolve({});
        return { body: { lease: { expires_in: 60, heartbeat_seconds: 0.01 } } };
      },
      command: () => enough.promise,
    });
    const result = await spawnCli(words(url, asks(url), ['--wait', '2h']));
    expect(result.exitCode).toBe(0);
    expect(calls('checkout').map(({ ticket }) => ticket)).toEqual([undefined, 'ldq_1', 'ldq_1']);
    expect(result.stderr).toContain('the server answers again');
  });

  it('or that is not a license server starts nothing', async () => {
    const { url, calls } = await stub({ checkout: () => ({ body: { hello: 'world' } }) });
    const result = await spawnCli(words(url, asks(url)));
    expect(result.exitCode).toBe(125);
    expect(result.stderr).toContain('not from a License Desk server');
    expect(calls('command')).toEqual([]);
  });

  it('starts nothing without --wait', async () => {
    const server = await startLicenseServerStub();
    await server.close();
    const result = await spawnCli(words(server.url, asks(server.url)));
    expect(result.exitCode).toBe(125);
    expect(result.stderr).toMatch(/^error: cannot reach the license server: .*ECONNREFUSED/u);
  });

  it('during the run does not end the command, and gets its heartbeats again', async () => {
    const enough = Promise.withResolvers<Answer>();
    const { url, calls } = await stub({
      checkout: () => grantedFor(0.01, 0),
      heartbeat(_input, count) {
        if (count <= 2) return undefined;
        if (count === 3) return { status: 502, body: {} };
        if (count >= 5) enough.resolve({});
        return { body: { lease: { expires_in: 60, heartbeat_seconds: 0.01 } } };
      },
      command: () => enough.promise,
    });
    const result = await spawnCli(words(url, asks(url)));
    expect(result.exitCode).toBe(0);
    expect(result.stderr).toContain('the command keeps running');
    expect(result.stderr).toContain('the lease has run out');
    expect(result.stderr).toContain('the server answers again');
    expect(calls('release')).toHaveLength(1);
  });
});

describe('messages that cannot be written', () => {
  const withStderr = (redirection: string) => ['sh', '-c', `exec "$@" ${redirection}`, 'sh'];

  it.skipIf(process.platform !== 'linux')('leave the command its seat and its exit code', async () => {
    const again = Promise.withResolvers<Answer>();
    const { url, calls } = await stub({
      checkout: () => grantedFor(0.01, 0),
      heartbeat(_input, count) {
        if (count <= 2) return undefined;
        if (count >= 4) again.resolve({ status: 205 });
        return { body: { lease: { expires_in: 60, heartbeat_seconds: 0.01 } } };
      },
      command: () => again.promise,
    });
    const result = await spawnCli(words(url, asks(url)), { prefix: withStderr('2>/dev/full') });
    expect(result.exitCode).toBe(5);
    expect(calls('release')).toHaveLength(1);
  });

  it('to a reader that is gone do not change the exit code', async () => {
    const { url, calls } = await stub();
    const child = spawn(NODE, [CLI_PROGRAM, ...words(url, ['/nonesuch/tool'])], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    child.stderr.destroy();
    expect(await once(child, 'exit')).toEqual([127, null]);
    expect(calls('release')).toHaveLength(1);
  });
});

describe('a lease that is gone', () => {
  const gone = failure(410, 'lease_gone', { reason: 'reclaimed' });

  it('is reported, and the command keeps running', async () => {
    const told = Promise.withResolvers<Answer>();
    const { url, calls } = await stub({
      checkout: () => grantedFor(0.01),
      heartbeat: () => gone,
      command: () => told.promise,
    });
    const running = start(url, asks(url));
    await running.said('the seat is lost: reclaimed; the command keeps running');
    told.resolve({ status: 206 });
    expect((await running.end()).exitCode).toBe(6);
    expect([calls('heartbeat').length, calls('release').length]).toEqual([1, 0]);
  });

  it('ends the command with --on-lost terminate', async () => {
    const { url, calls } = await stub({
      checkout: () => grantedFor(0.01),
      heartbeat: (_input, count) => (count === 1 ? { body: {} } : gone),
      command: () => new Promise<Answer>(() => {}),
    });
    const result = await spawnCli(words(url, asks(url), ['--on-lost', 'terminate']));
    expect(result.exitCode).toBe(143);
    expect(result.stderr).toContain('the seat is lost: reclaimed; ending the command');
    expect(calls('release')).toEqual([]);
  });
});
