// A wall clock that jumps under the server and between its starts.
import { setTimeout as sleep } from 'node:timers/promises';
import { selectRows } from '../helpers/database.ts';
import { hasFaketime, movableClock } from '../helpers/faketime.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { checkRow } from './fault-checks.ts';
import { createFaultLoad } from './fault-load.ts';
import { type Lane, runLane } from './lane.ts';
import { fingerprintFor } from './write-load.ts';

const AHEAD_DAYS = 5 * 365;
const AHEAD_MS = 8000;
/** A jump is believed after ten scans, which has to be later than the clock goes back. */
const SCAN_SECONDS = 2;
const TRUST_MS = 60_000;

async function noticesIn(dataDir: string): Promise<string[]> {
  const rows = await selectRows(
    dataDir,
    `SELECT name || ' ' || license_id AS notice FROM events
     WHERE name IN ('license.expiring', 'license.in_grace', 'license.expired') ORDER BY id`,
  );
  return rows.map(({ notice }) => notice as string);
}

async function run(lane: Lane): Promise<void> {
  if (!hasFaketime()) {
    const row = { check: 'clock', rounds: 0, checked: 'jumps of the clock', failures: [], figures: '' };
    lane.report({ ...row, skipped: 'faketime is not installed' });
    return;
  }
  const clock = movableClock();
  const dataDir = temporaryDirectory();
  const flags = { 'rate-limit': '0', 'scan-seconds': String(SCAN_SECONDS) };
  const options = { dataDir, prefix: clock.prefix, flags };
  let server: ServerProcess = await startServerProcess(options);
  const loaded = await createFaultLoad(server, lane.seed);

  /** Writes at the present time of the server; every reply has to be a success. */
  async function writeSome(): Promise<number> {
    const running = loaded.start(server);
    await running.until('confirmed', 30);
    await running.stop();
    return running.load.count.confirmed;
  }

  await checkRow(
    lane,
    'five years ahead for 8 s',
    'not ready because of the clock, no notice is sent, reads and writes go on, trusted again afterwards',
    async ({ expect, within, becomesReady, becomesNotReady, isAlive, failures }) => {
      let confirmed = await writeSome();
      const { license } = await server.admin.createLicense({ holder: 'Witness', days: 30 });
      loaded.ledger.licenses.set('Witness', {
        holder: 'Witness',
        created: 'confirmed',
        id: license.license_id,
        key: license.license_key,
        devices: new Map(),
        tokens: ['confirmed'],
        renewals: [],
        revoked: null,
      });
      const { token } = await server.admin.issueToken({ license: license.license_key });
      clock.set(AHEAD_DAYS);
      const hold = sleep(AHEAD_MS);
      await becomesNotReady(server, 'clock');
      await isAlive(server);
      confirmed += await writeSome();
      const early = await server.post('/activate/', {
        license_key: license.license_key,
        machine_fingerprint: fingerprintFor('early'),
      });
      expect(early.status === 403, `an activation of an expired license answered ${early.status}`);
      await hold;
      clock.set(0);
      const trusted = await within(TRUST_MS, 'the alert is cleared', async () => {
        const { alerts } = await server.admin.listAlerts({});
        return !alerts.some(({ code }) => code === 'clock_jumped');
      });
      await becomesReady(server);
      const { status, body } = await server.post('/authorize/token/', { token });
      expect(status === 200 && body.valid === true, `the token answered ${status} ${JSON.stringify(body)}`);
      confirmed += await writeSome();
      const notices = await noticesIn(dataDir);
      expect(notices.length === 0, `notices were sent: ${notices.join(', ')}`);
      failures.push(...(await loaded.faults()));
      return `${confirmed} confirmed, trusted again after ${trusted} ms`;
    },
  );

  await checkRow(
    lane,
    'a day back, and forward again',
    'reads and writes go on, nothing confirmed is lost, no notice is sent',
    async ({ expect, becomesReady, failures }) => {
      const before = await noticesIn(dataDir);
      clock.set(-1);
      let confirmed = await writeSome();
      clock.set(0);
      confirmed += await writeSome();
      await becomesReady(server);
      expect((await noticesIn(dataDir)).length === before.length, 'notices were sent');
      failures.push(...(await loaded.faults()));
      return `${confirmed} confirmed`;
    },
  );

  await checkRow(
    lane,
    'a start in the past',
    'starts a day and ten years before its last stop; what was confirmed is there; no notice is sent',
    async ({ expect, becomesReady, failures }) => {
      let confirmed = 0;
      for (const days of [-1, -3650]) {
        expect((await server.kill()).code === 0, 'the stop failed');
        clock.set(days);
        server = await startServerProcess(options);
        confirmed += await writeSome();
        failures.push(...(await loaded.faults()));
        expect((await server.kill()).code === 0, 'the stop in the past failed');
        clock.set(0);
        server = await startServerProcess(options);
        await becomesReady(server);
        confirmed += await writeSome();
      }
      const notices = await noticesIn(dataDir);
      // Licenses made ten years ago have expired since, and their notices are right.
      const wrong = notices.filter((notice) => notice.startsWith('license.expiring '));
      expect(wrong.length === 0, `notices were sent: ${wrong.join(', ')}`);
      failures.push(...(await loaded.faults()));
      return `${confirmed} confirmed`;
    },
  );
  const { code } = await server.kill();
  if (code !== 0) throw new Error(`the last stop ended with exit code ${code}`);
}

await runLane('clock', { count: 1, minutes: 10 }, run);
