// The built server as a child of the shell: the messages it sends, and those it obeys.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import type { MessageFromServer, MessageToServer } from '#server/process/parent-port.ts';
import { backOfficeOf } from '../helpers/back-office-of.ts';
import { writeRows } from '../helpers/database.ts';
import { movableClock } from '../helpers/faketime.ts';

type Message<Type> = Extract<MessageFromServer, { type: Type }>;

interface ServerBeside {
  dataDir: string;
  child: ChildProcess;
  /** Waits for a message of this type that is as wanted, among those that were not waited for yet. */
  message<Type extends MessageFromServer['type']>(
    type: Type,
    isWanted?: (message: Message<Type>) => boolean,
  ): Promise<Message<Type>>;
  /** Waits for a line of the log, among those that were not waited for yet. */
  logged(part: string): Promise<void>;
  tell(type: MessageToServer['type']): void;
}

let servers: ServerBeside[] = [];
afterEach(async () => {
  for (const { child, dataDir } of servers) {
    if (child.exitCode === null) {
      child.kill('SIGKILL');
      await new Promise((resolve) => {
        child.once('exit', resolve);
      });
    }
    rmSync(dataDir, { recursive: true, force: true });
  }
  servers = [];
});

/** Hands out each of what has come once, in the order in which it came. */
function inbox<Item>() {
  const items: Item[] = [];
  let ended: Error | null = null;
  let look = () => {};
  return {
    add(item: Item): void {
      items.push(item);
      look();
    },
    /** Nothing more comes. */
    end(reason: Error): void {
      ended = reason;
      look();
    },
    take: (isWanted: (item: Item) => boolean): Promise<Item> =>
      new Promise((resolve, reject) => {
        look = () => {
          for (let item = items.shift(); item !== undefined; item = items.shift()) {
            if (!isWanted(item)) continue;
            // What follows is for the next.
            look = () => {};
            return resolve(item);
          }
          if (ended) reject(ended);
        };
        look();
      }),
  };
}

interface Options {
  prefix?: string[];
  args?: string[];
  before?(dataDir: string): void;
}

function start({ prefix = [], args = [], before = () => {} }: Options = {}): ServerBeside {
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-beside-'));
  before(dataDir);
  const hook = import.meta.resolve('./stand-in/parent-port.ts');
  const [command = '', ...words] = [...prefix, process.execPath, '--import', hook, 'out/main/server.js'];
  const child = spawn(
    command,
    [...words, '--data-dir', dataDir, '--port=0', '--admin-port=0', '--scan-seconds=3600', ...args],
    { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] },
  );
  const messages = inbox<MessageFromServer>();
  const lines = inbox<string>();
  child.on('message', (message) => messages.add(message as MessageFromServer));
  let lastLine = '';
  createInterface({ input: child.stderr! }).on('line', (line) => {
    lastLine = line;
    lines.add(line);
  });
  // All messages and lines have come by then.
  child.once('close', (code, signal) => {
    const ended = new Error(`the server ended with ${signal ?? code}, having written: ${lastLine}`);
    messages.end(ended);
    lines.end(ended);
  });
  const server: ServerBeside = {
    dataDir,
    child,
    message: (type, isWanted = () => true) =>
      messages.take((message) => message.type === type && isWanted(message as never)) as never,
    logged: async (part) => void (await lines.take((line) => line.includes(part))),
    tell: (type) => void child.send({ type } satisfies MessageToServer),
  };
  servers.push(server);
  return server;
}

const clientOf = (server: ServerBeside) => backOfficeOf(server.dataDir).admin;

test('reports its status, and every change', async () => {
  const server = start({
    args: ['--webhook-allow=127.0.0.0/8', '--webhook-backoff-seconds=0.01'],
  });
  await server.message('ready');
  expect(await server.message('status')).toEqual({
    type: 'status',
    health: 'ok',
    failed_deliveries: 0,
    ending_soon: 0,
  });
  const client = clientOf(server);
  const soon = new Date(Date.now() + 3 * 86_400_000).toISOString();
  await client.createLicense({ holder: 'Acme', product: 'press', expires_at: soon });
  expect(await server.message('status')).toMatchObject({ ending_soon: 1, failed_deliveries: 0 });

  // Nothing listens there.
  await client.registerWebhook({ url: 'https://127.0.0.1:9/hooks', scope: 'license.revoked' });
  const { license } = await client.createLicense({ holder: 'Acme', product: 'press' });
  await client.revokeLicense({ ref: license.license_key });
  const failed = await server.message('status', (status) => status.failed_deliveries > 0);
  expect(failed).toMatchObject({ health: 'ok', failed_deliveries: 1, ending_soon: 1 });
});

test('runs immediately what fell due while the computer slept', async () => {
  const server = start();
  await server.message('ready');
  await server.logged('"job":"license-scan"');
  server.tell('wake');
  await server.logged('"job":"license-scan"');
});

test('notices that the clock was set', async () => {
  const clock = movableClock();
  const server = start({ prefix: clock.prefix });
  await server.message('ready');
  await server.logged('"job":"license-scan"');
  clock.set(1);
  await server.logged('the clock has jumped');
  await server.logged('"job":"license-scan"');
});

test('reports why it does not start, so that the shell can give advice', async () => {
  const damaged = start({
    before: (dataDir) => writeFileSync(join(dataDir, 'license-desk.db'), 'x'.repeat(5000), { mode: 0o600 }),
  });
  expect(await damaged.message('refused')).toMatchObject({
    cause: 'database',
    message: expect.stringContaining('is not a database or is damaged'),
  });
  const wrong = start({
    before: (dataDir) => writeFileSync(join(dataDir, 'config.json'), '{"rate_limit": "many"}'),
  });
  expect(await wrong.message('refused')).toMatchObject({ cause: 'settings' });
});

test('reports that the database belongs to a newer version', async () => {
  const older = start();
  await older.message('ready');
  const ended = once(older.child, 'exit');
  older.tell('stop');
  await ended;
  await writeRows(older.dataDir, `INSERT INTO migrations (name) VALUES ('0999-from-the-future')`);

  const server = start({ before: (dataDir) => cpSync(older.dataDir, dataDir, { recursive: true }) });
  expect(await server.message('refused')).toMatchObject({
    cause: 'newer_database',
    message: expect.stringContaining('0999-from-the-future'),
  });
});
