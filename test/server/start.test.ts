import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { loadConfig } from '#server/platform/config.ts';
import { lockDirectory } from '#server/database/directory-lock.ts';
import { startServer } from '#server/process/start-server.ts';
import { cliOn } from '../helpers/cli.ts';
import { writeRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { startTestServer } from '../helpers/test-server.ts';
import { CertificateAuthority } from '../webhooks/certificate-authority.ts';

let dataDir: string;

beforeEach(async () => {
  dataDir = await keptDataDir();
});

interface Sources {
  flags?: Record<string, string>;
  env?: Record<string, string>;
}

async function start({ flags = {}, env = {} }: Sources = {}, giveUp?: AbortSignal) {
  const given = { 'data-dir': dataDir, port: '0', 'admin-port': '0', ...flags };
  return startServer(loadConfig({ flags: given, env }), {
    logToStderr: false,
    ...(giveUp && { giveUp }),
  });
}

/** The one line that the start stops with. */
async function refusal(sources: Sources = {}): Promise<string> {
  const error: unknown = await start(sources).then(
    async (server) => server.stop(),
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Error);
  const { message } = error as Error;
  expect(message).not.toContain('\n');
  return message;
}

async function startsWell(sources: Sources = {}): Promise<void> {
  const server = await start(sources);
  expect((await fetch(`${server.api}health/`)).status).toBe(200);
  await server.stop();
}

describe('a start that cannot be', () => {
  const other = createServer();
  let port: string;
  beforeEach(async () => {
    await new Promise<void>((resolve) => {
      other.listen(0, '127.0.0.1', resolve);
    });
    port = String((other.address() as AddressInfo).port);
  });
  afterEach(async () => {
    await new Promise((resolve) => {
      other.close(resolve);
    });
  });

  it.each(['port', 'admin-port'])('says that --%s is taken, and leaves nothing behind', async (flag) => {
    const message = await refusal({ flags: { [flag]: port } });
    for (const part of [`--${flag}`, port, 'is using it']) expect(message).toContain(part);
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
    await startsWell();
  });

  it('reports that --host is not an address of this machine', async () => {
    const message = await refusal({ flags: { host: '192.0.2.1' } });
    expect(message).toMatch(/^--host is "192\.0\.2\.1", but the server cannot listen on 192\.0\.2\.1:0: /u);
    await startsWell();
  });

  it('says that --host does not resolve', async () => {
    const message = await refusal({ flags: { host: 'no-such-host.invalid' } });
    expect(message).toMatch(/^--host is "no-such-host\.invalid", but /u);
  });

  it.each([
    ['no files', '/nowhere/c.pem,/nowhere/k.pem'],
    ['files that are no PEM', 'package.json,package.json'],
  ])('says that --tls names %s', async (_name, tls) => {
    const message = await refusal({ flags: { tls } });
    for (const part of ['--tls', tls, 'PEM']) expect(message).toContain(part);
    await startsWell();
  });

  it.each([
    ['no file', '/nowhere/ca.pem', 'no such file'],
    ['a file without a certificate', join(process.cwd(), 'package.json'), 'no certificate'],
    ['a directory', join(process.cwd(), 'test'), 'directory'],
  ])('says that --webhook-ca names %s', async (_name, file, reason) => {
    const message = await refusal({ flags: { 'webhook-ca': file } });
    for (const part of ['--webhook-ca', file, 'PEM', reason]) expect(message).toContain(part);
    await startsWell();
  });

  it('says that the second certificate of --webhook-ca is cut off', async () => {
    const file = join(dataDir, 'ca.pem');
    const authority = new CertificateAuthority();
    onTestFinished(() => authority.remove());
    const whole = authority.cert;
    writeFileSync(file, whole + whole.replace(/(BEGIN CERTIFICATE-----\n)[^\n]*\n/u, '$1'));
    expect(await refusal({ flags: { 'webhook-ca': file } })).toContain('--webhook-ca');
    writeFileSync(file, whole + whole);
    await startsWell({ flags: { 'webhook-ca': file } });
  });

  it('says the same of a file as `settings set`, `settings list` and `doctor` do', async () => {
    const file = '/nowhere/ca.pem';
    const message = await refusal({ flags: { 'webhook-ca': file } });
    const cli = cliOn(dataDir);
    expect((await cli.fails('settings', 'set', 'webhook-ca', file)).message).toContain(message);
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ webhook_ca: file }));
    expect(await cli.ok('settings', 'list')).toMatchObject({ config_problem: message });
    const { checks } = (await cli.fails('doctor')) as unknown as { checks: object[] };
    expect(checks).toContainEqual({ check: 'webhook_ca', ok: false, detail: message });
  });

  it('reports that the data directory is a file', async () => {
    const file = join(dataDir, 'file');
    writeFileSync(file, '');
    expect(await refusal({ flags: { 'data-dir': file } })).toContain(file);
  });

  it('names the server that uses the data directory', async () => {
    const first = await startTestServer({ dataDir });
    const message = await refusal();
    for (const part of [dataDir, 'in use', String(process.pid), first.api]) expect(message).toContain(part);
    expect((await first.get('/health/')).status).toBe(200);
    await first.stop();
    await startsWell();
  });

  it('reports a database of a newer version, and does not change it', async () => {
    await startsWell();
    await writeRows(dataDir, `INSERT INTO migrations (name) VALUES ('9999-from-the-future')`);
    expect(await refusal()).toContain('9999-from-the-future');
  });

  it('reports a file that is not a database', async () => {
    writeFileSync(join(dataDir, 'license-desk.db'), randomBytes(8192));
    expect(await refusal()).toMatch(/database/iu);
  });
});

describe('the master key', () => {
  const key = () => randomBytes(32).toString('base64');

  it.each([
    'short',
    randomBytes(31).toString('base64'),
    randomBytes(33).toString('base64'),
    `${'='.repeat(44)}`,
    'x'.repeat(44),
  ])('must be 32 bytes in base64, and is not repeated in the message: %#', async (wrong) => {
    const message = await refusal({ env: { LICENSE_DESK_MASTER_KEY: wrong } });
    for (const part of ['LICENSE_DESK_MASTER_KEY', '32 bytes', 'base64']) expect(message).toContain(part);
    expect(message).not.toContain(wrong);
  });

  it('of the environment is not written down, and has to be the same again', async () => {
    const env = { LICENSE_DESK_MASTER_KEY: key() };
    await startsWell({ env });
    expect(existsSync(join(dataDir, 'master.key'))).toBe(false);
    await startsWell({ env });
    expect(await refusal({ env: { LICENSE_DESK_MASTER_KEY: key() } })).toContain('master key');
    await startsWell({ env });
  });

  it('is not made anew where there are secrets sealed under another', async () => {
    await startsWell({ env: { LICENSE_DESK_MASTER_KEY: key() } });
    expect(await refusal()).toContain('master.key');
    expect(existsSync(join(dataDir, 'master.key'))).toBe(false);
  });

  it('of the data directory is reported if damaged', async () => {
    await startsWell();
    writeFileSync(join(dataDir, 'master.key'), 'damaged\n');
    const message = await refusal();
    for (const part of [join(dataDir, 'master.key'), '32 bytes']) expect(message).toContain(part);
  });
});

describe('a start that is given up', () => {
  const giveUpSoon = (): AbortSignal => {
    const controller = new AbortController();
    // In the middle of the first step.
    setImmediate(() => controller.abort());
    return controller.signal;
  };

  it('leaves nothing behind that is in the way of the next', async () => {
    await expect(start({}, giveUpSoon())).rejects.toThrow(/aborted/u);
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
    await startsWell();
  });

  it('does not sit out its wait for the data directory', async () => {
    const lock = await lockDirectory(dataDir);
    // At the end of the wait it would say who uses the directory.
    await expect(start({}, giveUpSoon())).rejects.toThrow(/aborted/u);
    await lock?.release();
    await startsWell();
  });
});

describe('a stop', () => {
  it('can be requested twice, and waits for requests in progress', async () => {
    const server = await start();
    const calls = Array.from({ length: 20 }, async () => (await fetch(`${server.api}health/`)).status);
    const statuses = Promise.all(calls);
    expect(new Set(await statuses)).toEqual(new Set([200]));
    await Promise.all([server.stop(), server.stop()]);
    await expect(fetch(`${server.api}health/`)).rejects.toThrow();
    await startsWell();
  });
});
