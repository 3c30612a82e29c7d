// The list by another clock, in the whole server: never ended when it is fetched, and made anew though nobody asks.
import { describe, expect, it } from 'vitest';
import { issue, serialsIn } from '../certificates/issuing.ts';
import { openssl } from '../certificates/openssl.ts';
import { listAs } from '../helpers/crl.ts';
import { selectRows } from '../helpers/database.ts';
import { hasFaketime, movableClock, timesAsFast } from '../helpers/faketime.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const DAY_MS = 86_400_000;
const WEEK_SECONDS = 7 * 86_400;
/** A day passes in a second, and so do the timers of the jobs; no HTTP goes through at that pace. */
const SPEED = 86_400;
/** Longer than a list is in force. */
const DAYS = roundsOr(8);
const why = hasFaketime() ? '' : ' (skipped: Debian package faketime is not installed)';

/** Both ends of the list as OpenSSL reads them, in epoch milliseconds. */
function termOf(der: Buffer): [number, number] {
  const shown = openssl(['crl', '-inform', 'DER', '-noout', '-lastupdate', '-nextupdate'], der);
  const [from, until] = [...shown.matchAll(/=(.+)/gu)].map(([, date = '']) => Date.parse(date));
  return [from!, until!];
}

async function newRevocation(server: ServerProcess): Promise<string> {
  const { license } = await server.admin.createLicense({ holder: 'Timely' });
  const { certificate } = await issue(server, { license_id: license.license_id });
  await server.admin.revokeCertificate({ id: certificate.id });
  return certificate.serial_number;
}

interface UpkeepLine {
  time: string;
  /** Only if a list was made. */
  listNumber?: number | null;
}

describe.skipIf(why !== '')(`under faketime${why}`, () => {
  it('the list is in force whenever it is fetched, however the clock jumps', async () => {
    const clock = movableClock();
    const server = await startServerProcess({ dataDir: temporaryDirectory(), prefix: clock.prefix });
    const serial = await newRevocation(server);
    for (const day of [0, 0.5, 6.9, 7, 8, 16, 30, 37.1, 20, 21, 3]) {
      clock.set(day);
      const list = await listAs(server, 'der');
      const now = Date.now() + day * DAY_MS;
      const [from, until] = termOf(list);
      expect([day, from <= now, until > now]).toEqual([day, true, true]);
      expect(serialsIn(list)).toEqual([serial]);
    }
    expect((await server.kill()).code).toBe(0);
  });

  it('a private key can be downloaded although the clock was weeks ahead for a moment', async () => {
    const clock = movableClock();
    const server = await startServerProcess({ dataDir: temporaryDirectory(), prefix: clock.prefix });
    const { license_id } = (await server.admin.createLicense({ holder: 'Patient' })).license;
    const issued = await server.admin.generateCertificate({ license_id, common_name: 'client' });
    if (!('download_token' in issued)) throw new Error('the certificate came without a key');
    const before = termOf(await listAs(server, 'der'));
    clock.set(30);
    // Maintenance has run: it made a new list.
    expect(termOf(await listAs(server, 'der'))).not.toEqual(before);
    clock.set(0);
    const { download_token: token } = issued;
    expect((await server.get(`/certs/download-key/?token=${token}`)).status).toBe(200);
    expect((await server.kill()).code).toBe(0);
  });

  it(`the list is made anew day by day, for ${DAYS} days without a call`, async () => {
    const dataDir = temporaryDirectory();
    const first = await startServerProcess({ dataDir });
    await newRevocation(first);
    await first.kill();
    const [before] = await selectRows(dataDir, 'SELECT number FROM revocation_lists');

    const prefix = timesAsFast(SPEED);
    const server = await startServerProcess({ dataDir, prefix });
    const runs: UpkeepLine[] = [];
    const days = () => (Date.parse(runs.at(-1)!.time) - Date.parse(runs[0]!.time)) / DAY_MS;
    const made = () => runs.filter(({ listNumber }) => typeof listNumber === 'number').length;
    do {
      const fields = { msg: 'job done', job: 'certificate-upkeep' };
      runs.splice(0, runs.length, ...((await server.logLines(fields, runs.length + 1)) as UpkeepLine[]));
    } while (days() < DAYS || made() <= DAYS / 6);
    await server.kill('SIGKILL');

    // A list's number is the second in which it was made. However long this machine kept a run waiting, one that makes no
    // list leaves one that is in force.
    let newest = before.number;
    const ages: number[] = [];
    for (const { time, listNumber } of runs) {
      if (typeof listNumber === 'number') newest = listNumber;
      else ages.push(Date.parse(time) / 1000 - newest);
    }
    process.stderr.write(`${made()} lists in ${Math.round(days())} days\n`);
    expect(Math.max(...ages)).toBeLessThan(WEEK_SECONDS);
    const [list] = await selectRows(dataDir, 'SELECT next_update FROM revocation_lists');
    expect(list.next_update).toBeGreaterThan(Date.parse(runs.at(-1)!.time));
  });
});
