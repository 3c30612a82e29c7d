// The desktop app over the stand-in for Electron: its own code, its server and its page; not Electron's start itself.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStandIn } from '../e2e/desktop-app.ts';

interface Start {
  /** From the first line of the built main process to the start of the server. */
  loadMs: number;
  /** From there to the first screen. */
  firstScreenMs: number;
}

async function start(dataDir: string): Promise<Start> {
  const app = await openStandIn({ dataDir });
  try {
    await app.page.getByRole('heading', { name: 'Overview' }).waitFor();
    const shown = performance.timeOrigin + performance.now();
    const { at: registered } = await app.shell.event('registered');
    const { at: forked } = await app.shell.event('forked');
    return { loadMs: forked - registered, firstScreenMs: shown - registered };
  } finally {
    await app.dispose();
  }
}

/** The first start of all makes keys and tables, fills the cache of compiled code, and introduces itself. */
async function firstEver(dataDir: string): Promise<void> {
  const app = await openStandIn({ dataDir });
  await app.page.getByRole('button', { name: 'Skip setup' }).click();
  await app.page.getByRole('heading', { name: 'Overview' }).waitFor();
  await app.dispose();
}

/** What `npm start` does before it opens the app. */
function checkBuildMs(): number {
  const started = performance.now();
  spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale']);
  return performance.now() - started;
}

/** @param rounds how often the app is started */
export async function measureDesktop(rounds: number) {
  const checks: number[] = [];
  const starts: Start[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-desktop-'));
  try {
    await firstEver(dataDir);
    for (let round = 0; round < rounds; round += 1) {
      checks.push(checkBuildMs());
      starts.push(await start(dataDir));
    }
    return {
      loads: starts.map(({ loadMs }) => loadMs),
      firstScreens: starts.map(({ firstScreenMs }, round) => firstScreenMs + (checks[round] ?? Number.NaN)),
      details: { starts, checks },
    };
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}
