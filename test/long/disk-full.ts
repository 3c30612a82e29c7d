// A disk without space: refused writes leave no trace, reads go on, and space is all it takes to recover.
import { join } from 'node:path';
import { serveToEnd, startServerProcess } from '../helpers/server-process.ts';
import { mountSmallDisk } from '../helpers/small-disk.ts';
import { checkRow } from './fault-checks.ts';
import { faultCycles } from './fault-cycles.ts';
import { createFaultLoad } from './fault-load.ts';
import { type Lane, runLane } from './lane.ts';

const DISK_MB = 48;
const CYCLES = 10;

async function run(lane: Lane): Promise<void> {
  const disk = mountSmallDisk(DISK_MB);
  if (typeof disk === 'string') {
    const row = { check: 'disk full', rounds: 0, checked: 'a full disk', failures: [], figures: '' };
    lane.report({ ...row, skipped: disk });
    return;
  }
  const options = {
    dataDir: join(disk.path, 'data'),
    stderrFile: '/dev/null',
    flags: { 'rate-limit': '0', 'scan-seconds': '0.5' },
  };
  try {
    let server = await startServerProcess(options);
    const loaded = await createFaultLoad(server, lane.seed);
    const { license } = await server.admin.createLicense({ holder: 'Full', plan: 'enterprise' });
    loaded.ledger.licenses.set('Full', {
      holder: 'Full',
      created: 'confirmed',
      id: license.license_id,
      key: license.license_key,
      devices: new Map(),
      tokens: ['confirmed'],
      renewals: [],
      revoked: null,
    });
    const { token } = await server.admin.issueToken({ license: license.license_key });

    await checkRow(
      lane,
      'fills and empties under load',
      'writes 200 or 503, reads 200, readiness follows, no restart, nothing confirmed is lost',
      (checks) =>
        faultCycles(checks, server, loaded, {
          cycles: CYCLES,
          begin: () => disk.fill(),
          end: () => disk.free(),
          async checkRead() {
            const { status, body } = await server.post('/authorize/token/', { token });
            checks.expect(status === 200 && body.valid === true, `a read on a full disk answered ${status}`);
          },
        }),
    );

    await checkRow(
      lane,
      'kill -9 on a full disk',
      'a start on the full disk fails with one line or recovers; with space all confirmed writes are there',
      async ({ expect, failures }) => {
        const running = loaded.start(server, 503);
        await running.until('confirmed', 20);
        disk.fill();
        await running.until('refused', 5);
        await server.kill('SIGKILL');
        await running.stop();
        disk.fill();
        const { stderrFile: _unused, ...toMemory } = options;
        const { code, stderr } = await serveToEnd(toMemory);
        expect(code === 1 && /^error: [^\n]+\n$/u.test(stderr), `start ended with ${code}: ${stderr}`);
        disk.free();
        server = await startServerProcess(options);
        failures.push(...(await loaded.faults()));
        return `${running.load.count.confirmed} confirmed, ${running.load.count.unanswered} unanswered`;
      },
    );

    await checkRow(
      lane,
      'SIGTERM on a full disk',
      'exit code 0, all confirmed writes are there after the next start',
      async ({ expect, failures }) => {
        const running = loaded.start(server, 503);
        await running.until('confirmed', 20);
        disk.fill();
        await running.until('refused', 5);
        await running.stop();
        const { code } = await server.kill();
        expect(code === 0, `exit code ${code}`);
        disk.free();
        server = await startServerProcess(options);
        failures.push(...(await loaded.faults()));
        expect((await server.kill()).code === 0, 'the last stop failed');
        return `${running.load.count.confirmed} confirmed`;
      },
    );
  } finally {
    disk.unmount();
  }
}

await runLane('disk-full', { count: 1, minutes: 5 }, run);
