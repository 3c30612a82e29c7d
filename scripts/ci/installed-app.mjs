/** An installed app as the checks of a workflow use it: started, watched, and ended with everything it left. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const WAIT_MS = 60_000;

/**
 * @template Value
 * @param {string} what
 * @param {() => Value | undefined | Promise<Value | undefined>} look
 * @returns {Promise<Value>}
 */
export async function until(what, look) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error(`waited ${WAIT_MS} ms for ${what}`);
    await sleep(100);
  }
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** @param {number} pid */
export function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** @param {unknown} actual @param {unknown} wanted @param {string} what */
export function expect(actual, wanted, what) {
  if (actual !== wanted) throw new Error(`${what} must be ${wanted} (got ${actual})`);
}

/** @param {string} app the installed program */
export function useInstalledApp(app) {
  const folder = mkdtempSync(join(tmpdir(), 'license-desk-smoke-'));
  const dataDir = join(folder, 'data');
  const runtimeFile = join(dataDir, 'runtime.json');
  // A keychain would prompt the user, and no user is present.
  const masterKey = randomBytes(32).toString('base64');
  /** @type {string[]} */
  const passed = [];
  /** @type {import('node:child_process').ChildProcess[]} */
  const started = [];

  /** @returns {{ api: string, admin: string, pid: number } | undefined} */
  function runtime() {
    if (!existsSync(runtimeFile)) return undefined;
    try {
      return JSON.parse(readFileSync(runtimeFile, 'utf8'));
    } catch {
      // It is being written.
      return undefined;
    }
  }

  return {
    folder,
    runtimeFile,
    /** The arguments of an app with its own data directory. */
    server: [`--data-dir=${dataDir}`, '--port=0', '--admin-port=0'],
    runtime,

    /**
     * @param {readonly string[]} args
     * @param {NodeJS.ProcessEnv} [env]
     * @param {string} [program]
     */
    start(args, env = {}, program = app) {
      const child = spawn(program, args, {
        env: { ...process.env, LICENSE_DESK_MASTER_KEY: masterKey, ...env },
        stdio: ['ignore', 'inherit', 'inherit'],
      });
      started.push(child);
      const exited = once(child, 'exit').then(([code, signal]) => code ?? String(signal));
      return { child, exited };
    },

    /** @param {string} what @param {() => Promise<void>} work */
    async check(what, work) {
      try {
        await work();
      } catch (error) {
        throw new Error(`${what}: ${/** @type {Error} */ (error).message}`, { cause: error });
      }
      passed.push(what);
      process.stdout.write(`passed: ${what}\n`);
    },

    /** @param {number} [notPid] of a server that is over */
    healthyServer: (notPid) =>
      until('a healthy server', async () => {
        const found = runtime();
        if (!found || found.pid === notPid) return undefined;
        const response = await fetch(new URL('health/', found.api)).catch(() => null);
        return response?.ok ? found : undefined;
      }),

    /**
     * Runs the checks, ends what they left, and writes what passed.
     *
     * @param {() => Promise<void>} work
     * @param {string} [proof] a JSON file
     */
    async run(work, proof) {
      let problem = null;
      try {
        await work();
      } catch (error) {
        problem = /** @type {Error} */ (error).message;
        process.stderr.write(`error: ${problem}\n`);
        process.exitCode = 1;
      } finally {
        const running = started.filter(
          ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
        );
        for (const child of running) child.kill('SIGKILL');
        const { platform, arch, version } = process;
        const facts = { app, platform, arch, node: version, passed, problem };
        if (proof) writeFileSync(proof, `${JSON.stringify(facts, null, 2)}\n`);
        rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
      }
      // A failed check may leave a connection to the browser open.
      process.exit();
    },
  };
}
