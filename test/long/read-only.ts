// Storage that cannot be written, before the start and under a running server.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { serveToEnd, startServerProcess } from '../helpers/server-process.ts';
import { mountSmallDisk } from '../helpers/small-disk.ts';
import { checkRow } from './fault-checks.ts';
import { faultCycles } from './fault-cycles.ts';
import { createFaultLoad } from './fault-load.ts';
import { type Lane, runLane } from './lane.ts';

const DISK_MB = 64;
const CYCLES = 5;

/** Makes every write of the process fail with EFBIG, as a broken disk would, and lifts that again. */
function limitWrites(pid: number, isLimited: boolean): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${isLimited ? '1:unlimited' : 'unlimited'}`]);
}

async function run(lane: Lane): Promise<void> {
  const disk = mountSmallDisk(DISK_MB);
  if (typeof disk === 'string') {
    const row = { check: 'read-only', rounds: 0, checked: 'a read-only disk', failures: [], figures: '' };
    lane.report({ ...row, skipped: disk });
    return;
  }
  const dataDir = join(disk.path, 'data');
  const options = { dataDir, flags: { 'rate-limit': '0', 'scan-seconds': '0.5' } };
  const remount = (mode: 'ro' | 'rw') =>
    execFileSync('mount', ['-o', `remount,${mode}`, disk.path], { stdio: 'pipe' });
  try {
    let server = await startServerProcess(options);
    const loaded = await createFaultLoad(server, lane.seed);

    await checkRow(
      lane,
      'writes fail while running',
      'writes 200 or 503, reads 200, readiness follows, no restart, nothing confirmed is lost',
      (checks) =>
        faultCycles(checks, server, loaded, {
          cycles: CYCLES,
          begin: () => limitWrites(server.pid, true),
          end: () => limitWrites(server.pid, false),
          async checkRead() {
            const { status } = await server.get('/public-key/');
            checks.expect(status === 200, `a read answered ${status}`);
          },
        }),
    );

    await checkRow(
      lane,
      'start on a read-only disk',
      'exit code 1 with one line, nothing is changed; afterwards all confirmed writes are there',
      async ({ expect, failures }) => {
        const running = loaded.start(server);
        await running.until('confirmed', 20);
        await server.kill('SIGKILL');
        await running.stop();
        const before = JSON.stringify(snapshotOf(dataDir));
        remount('ro');
        const { code, stderr } = await serveToEnd(options);
        expect(code === 1 && /^error: [^\n]+\n$/u.test(stderr), `start ended with ${code}: ${stderr}`);
        expect(
          JSON.stringify(snapshotOf(dataDir)) === before,
          'the refused start changed the data directory',
        );
        remount('rw');
        server = await startServerProcess(options);
        failures.push(...(await loaded.faults()));
        expect((await server.kill()).code === 0, 'the stop failed');
        return `refused with: ${stderr.trim().replace(disk.path, '…')}`;
      },
    );
  } finally {
    disk.unmount();
  }
}

await runLane('read-only', { count: 1, minutes: 5 }, run);
