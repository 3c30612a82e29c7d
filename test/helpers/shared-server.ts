// What most API tests begin with: one server for all tests of the file, and a clock that each of them finds at the same time.
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createTestClock, type TestClock } from './test-clock.ts';
import { startTestServer, type TestServer } from './test-server.ts';

/** Runs before the hooks that are declared after it; until then the server has no members. */
export function sharedServer(options: Parameters<typeof startTestServer>[0] = {}): TestServer {
  const server = {} as TestServer;
  beforeAll(async () => {
    Object.assign(server, await startTestServer(options));
  });
  afterAll(() => server.stop());
  return server;
}

/** @param start epoch milliseconds, to which it is set back before each test */
export function sharedClock(start: number): TestClock {
  const clock = createTestClock(start);
  beforeEach(() => clock.set(start));
  return clock;
}
