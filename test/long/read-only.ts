// Storage that cannot be written, before the start and under a running server.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { serveToEnd, startServerProcess } from '../helpers/server-process.ts';
import { mountSmallDisk } from '../helpers/small-disk.ts';
import { checkRow } from './fault-checks.ts';
import { createFaultLoad } from './fault-load.ts';
import { type Lane, runLane } from './lane.ts';

const DISK_MB = 64;
const RECOVERY_MS = 20_000;
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
  // Also when the lane is interrupted.
  process.once('exit', disk.unmount);
  try {
    let server = await startServerProcess(options);
    const loaded = await createFaultLoad(server, lane.seed);

    await checkRow(
      lane,
      'writes fail while running',
      'writes 200 or 503, reads 200, readiness follows, no restart, nothing confirmed is lost',
      async ({ expect, within, becomesReady, becomesNotReady, isAlive, failures }) => {
        const total = { confirmed: 0, refused: 0 };
        let slowest = 0;
        for (let cycle = 0; cycle < CYCLES; cycle += 1) {
          const running = loaded.start(server, 503);
          await running.until('confirmed', 20);
          limitWrites(server.pid, true);
          await running.until('refused', 20);
          const { status } = await server.get('/public-key/');
          expect(status === 200, `a read answered ${status}`);
          await becomesNotReady(server, 'storage');
          await isAlive(server);
          limitWrites(server.pid, false);
          const before = running.load.count.confirmed;
          const recovered = async () => running.load.count.confirmed > before;
          slowest = Math.max(slowest, await within(RECOVERY_MS, 'writes work again', recovered));
          await running.stop();
          await becomesReady(server);
          total.confirmed += running.load.count.confirmed;
          total.refused += running.load.count.refused;
        }
        failures.push(...(await loaded.faults()));
        return `${CYCLES} cycles, ${total.confirmed} confirmed, ${total.refused} refused, recovered in ${slowest} ms`;
      },
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
    process.off('exit', disk.unmount);
    disk.unmount();
  }
}

await runLane('read-only', { count: 1, minutes: 5 }, run);
