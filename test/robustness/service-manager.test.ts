// What systemd hears, on a real datagram socket like the one it gives to a service.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, it, vi } from 'vitest';
import { serviceManager } from '#server/platform/service-manager.ts';
import { eventually } from '../helpers/eventually.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

/** Prints each datagram as a line of JSON; a descriptor that comes along is closed, which is what `systemd-notify` waits for. */
const RECEIVER = `
import json, socket, sys
receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
receiver.bind(sys.argv[1])
print(json.dumps('bound'), flush=True)
while True:
    print(json.dumps(receiver.recv(65536).decode()), flush=True)
`;

let receiver: ChildProcess | undefined;
afterEach(() => void receiver?.kill());

async function receiveNotifications() {
  const path = join(temporaryDirectory(), 'notify');
  receiver = spawn('python3', ['-c', RECEIVER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: receiver.stdout! });
  const messages: string[] = [];
  await once(lines, 'line');
  lines.on('line', (line) => {
    const message = JSON.parse(line) as string;
    if (message.trim() !== 'BARRIER=1') messages.push(message.trim());
  });
  return {
    path,
    messages,
    until: (part: string, count = 1) =>
      eventually(() =>
        expect(messages.filter((message) => message.includes(part)).length).toBeGreaterThanOrEqual(count),
      ),
  };
}

it('is notified that the server is ready, alive and stopping', async () => {
  const { path, messages, until } = await receiveNotifications();
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '400000' };
  const server = await startServerProcess({ dataDir: temporaryDirectory(), env });
  await until('READY=1');
  expect(messages.find((message) => message.includes('READY=1'))).toBe(
    `READY=1\nSTATUS=Serving ${server.ready.api}`,
  );
  await until('WATCHDOG=1', 3);
  const { code } = await server.kill();
  expect(code).toBe(0);
  await until('STOPPING=1');
});

it('is not notified by a service that does not answer', async () => {
  const { path, messages, until } = await receiveNotifications();
  const env = { NOTIFY_SOCKET: path, WATCHDOG_USEC: '100000', WATCHDOG_PID: String(process.pid) };
  let answers = true;
  let asked = 0;
  serviceManager(env, () => {}).watch(() => {
    asked += 1;
    return answers ? Promise.resolve() : new Promise(() => {});
  });
  await until('WATCHDOG=1');
  answers = false;
  const answered = asked;
  // Some may still be on their way.
  await until('WATCHDOG=1', answered);
  const before = asked;
  await eventually(() => expect(asked).toBeGreaterThan(before + 8));
  expect(messages).toHaveLength(answered);
});

it.each([
  ['there is no systemd', {}],
  ['the watchdog is for another process', { WATCHDOG_PID: '1' }],
])('asks nothing when %s', async (_why, fields) => {
  const check = vi.fn<() => Promise<void>>(async () => {});
  const socket = Object.keys(fields).length === 0 ? {} : { NOTIFY_SOCKET: '/nowhere' };
  const manager = serviceManager({ ...socket, WATCHDOG_USEC: '1000', ...fields }, () => {});
  manager.watch(check);
  await new Promise((resolve) => {
    setTimeout(resolve, 50);
  });
  expect(check).not.toHaveBeenCalled();
});

it('says once that nothing can be sent', async () => {
  const errors: Error[] = [];
  const manager = serviceManager({ NOTIFY_SOCKET: '/nowhere/at/all' }, (error) => errors.push(error));
  manager.ready('here');
  await eventually(() => expect(errors).toHaveLength(1));
});
