// `kill -9` in the middle of the work: what was confirmed is there, and nothing is half there.
import { expect, it } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { selectRows } from '../helpers/database.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import {
  killWhileStarting,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const ROUNDS = roundsOr(1);
const ACTIVATIONS = 200;
const CONNECTIONS = 16;
const DAY_MS = 86_400_000;
/** Scanning all the time: its worker thread writes the same database as the activations. */
const flags = { 'scan-seconds': '0.5' };

/** Of the some seventy changes of a first start: the lock, the schema page by page, the keys, the runtime file. */
const WHILE_STARTING = [5, 25, 60, 66, 2, 8, 12, 15, 40, 58, 62, 64].slice(0, ROUNDS * 2);

interface Round {
  licenseId: number;
  licenseKey: string;
  /** A license that the scan has to tell of. */
  inGraceId: number;
  /** Fingerprints whose activation was answered with 200. */
  confirmed: string[];
}

async function newRound(server: ServerProcess): Promise<Round> {
  const { license } = await server.admin.createLicense({ holder: 'Survivor', plan: 'enterprise' });
  const expires_at = new Date(Date.now() - DAY_MS).toISOString();
  const past = await server.admin.createLicense({ holder: 'Overdue', plan: 'enterprise', expires_at });
  const { license_id: licenseId, license_key: licenseKey } = license;
  return { licenseId, licenseKey, inGraceId: past.license.license_id, confirmed: [] };
}

/** Activates from many connections, and kills the server as soon as it has sent that many replies. */
async function activateUntilKilled(server: ServerProcess, round: Round, killAfter: number): Promise<void> {
  let next = 0;
  let killed = false;
  const connection = async () => {
    while (next < ACTIVATIONS && !killed) {
      const machine_fingerprint = fingerprintOf(next);
      next += 1;
      const request = { license_key: round.licenseKey, machine_fingerprint };
      // A reply that was cut off confirms nothing.
      const reply = await server.post('/activate/', request).catch(() => null);
      if (reply?.status === 200) round.confirmed.push(machine_fingerprint);
      if (round.confirmed.length >= killAfter && !killed) {
        killed = true;
        await server.kill('SIGKILL');
      }
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
}

/** The devices of the license, each with the number of its event and audit rows. */
function devicesWithTraces(dataDir: string, licenseId: number) {
  const fingerprint = (column: string) =>
    `json_extract(${column}, '$.machine_fingerprint') = a.machine_fingerprint`;
  return selectRows(
    dataDir,
    `SELECT a.machine_fingerprint AS fingerprint,
       (SELECT count(*) FROM events e WHERE e.license_id = a.license_id
        AND e.name = 'license.activated' AND ${fingerprint('e.body')}) AS events,
       (SELECT count(*) FROM audit_entries u WHERE u.subject = 'license:' || a.license_id
        AND u.action = 'device.activated' AND ${fingerprint('u.after_state')}) AS audits
     FROM activations a WHERE a.license_id = ${licenseId}`,
  );
}

async function countOf(dataDir: string, from: string): Promise<number> {
  const [row] = await selectRows(dataDir, `SELECT count(*) AS count FROM ${from}`);
  return row.count as number;
}

async function expectSound(
  { dataDir, admin }: ServerProcess,
  { licenseId, confirmed }: Round,
): Promise<void> {
  expect(await selectRows(dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(await selectRows(dataDir, 'PRAGMA foreign_key_check')).toEqual([]);

  const devices = await devicesWithTraces(dataDir, licenseId);
  expect(devices.filter(({ events, audits }) => events !== 1 || audits !== 1)).toEqual([]);
  expect(await countOf(dataDir, `events WHERE license_id = ${licenseId}`)).toBe(devices.length);
  expect(await countOf(dataDir, `audit_entries WHERE subject = 'license:${licenseId}'`)).toBe(
    devices.length + 1,
  );

  const inDatabase = new Set(devices.map(({ fingerprint }) => fingerprint as string));
  expect(confirmed.filter((fingerprint) => !inDatabase.has(fingerprint))).toEqual([]);
  const { items } = await admin.listDevices({ ref: String(licenseId), limit: 500 });
  expect(new Set(items.map((device) => device.machine_fingerprint))).toEqual(inDatabase);
  const { license } = await admin.showLicense({ ref: String(licenseId) });
  expect(license.activation_count).toBe(devices.length);
  expect(license.first_activated_at === null).toBe(devices.length === 0);
}

it('keeps every confirmed activation through kills', async () => {
  const dataDir = temporaryDirectory();
  const rounds: Round[] = [];
  let server = await startServerProcess({ dataDir, flags });
  for (let number = 0; number < ROUNDS; number += 1) {
    const round = await newRound(server);
    rounds.push(round);
    // From the very first reply to nearly the last one.
    await activateUntilKilled(server, round, number * 10);
    const killed = await server.ended;
    expect(killed.code).toBe(null);
    // At once: the dead server's lock and runtime file are in nobody's way.
    server = await startServerProcess({ dataDir, flags });
    await expectSound(server, round);
    expect(round.confirmed.length).toBeGreaterThanOrEqual(number * 10);
  }

  for (const round of rounds) await expectSound(server, round);
  // Each overdue license was told of once, whatever was killed in between.
  await server.logLines({ msg: 'job done', job: 'license-scan', due: false });
  const overdue = rounds.map(({ inGraceId }) => inGraceId);
  const notices = await selectRows(
    dataDir,
    `SELECT license_id AS id, name FROM events WHERE license_id IN (${overdue.join(', ')}) ORDER BY license_id`,
  );
  expect(notices).toEqual(overdue.map((id) => ({ id, name: 'license.in_grace' })));
  expect((await server.kill()).code).toBe(0);
});

it('renews once for each Idempotency-Key that is sent again after a kill', async () => {
  const dataDir = temporaryDirectory();
  let server = await startServerProcess({ dataDir });
  const { api_token } = await server.admin.createApiToken({ name: 'Retrying', role: 'admin' });
  const licenses = await atOnce(
    60,
    async () => (await server.admin.createLicense({ holder: 'Retried' })).license,
  );
  const renew = (license_id: number) => {
    const headers = { authorization: `Bearer ${api_token}`, 'idempotency-key': `renewal-of-${license_id}` };
    return server.post('/renew/', { license_id, days: 10 }, headers);
  };
  const firstReplies = new Map<number, string>();
  for (const killAfter of [1, 20, 45]) {
    await Promise.all(
      licenses.map(async ({ license_id }) => {
        const reply = await renew(license_id).catch(() => null);
        if (reply?.status === 200) firstReplies.set(license_id, JSON.stringify(reply.body));
        if (firstReplies.size === killAfter) await server.kill('SIGKILL');
      }),
    );
    await server.kill('SIGKILL');
    server = await startServerProcess({ dataDir });
  }

  for (const { license_id, expires_at } of licenses) {
    const { status, body } = await renew(license_id);
    expect(status).toBe(200);
    expect(JSON.stringify(body)).toBe(firstReplies.get(license_id) ?? JSON.stringify(body));
    expect(Date.parse(body.license.expires_at as string)).toBe(Date.parse(expires_at) + 10 * DAY_MS);
  }
  expect(await countOf(dataDir, 'licenses WHERE term <> 2')).toBe(0);
  expect(await countOf(dataDir, `events WHERE name = 'license.renewed'`)).toBe(licenses.length);
  expect((await server.kill()).code).toBe(0);
});

it('starts after its very first start was killed anywhere', async () => {
  for (const [index, changes] of WHILE_STARTING.entries()) {
    const dataDir = temporaryDirectory();
    // With the key from the environment there is no key file that would tell how far the start has come.
    const env =
      index % 2 === 0 ? {} : { LICENSE_DESK_MASTER_KEY: Buffer.alloc(32, index).toString('base64') };
    await killWhileStarting({ dataDir, env }, changes);
    const server = await startServerProcess({ dataDir, env });
    const { license } = await server.admin.createLicense({ holder: 'First' });
    const request = { license_key: license.license_key, machine_fingerprint: fingerprintOf(1) };
    expect((await server.post('/activate/', request)).status).toBe(200);
    expect(await countOf(dataDir, 'signing_keys')).toBe(1);
    expect(await countOf(dataDir, 'plans')).toBe(4);
    expect((await server.kill()).code).toBe(0);
  }
});
