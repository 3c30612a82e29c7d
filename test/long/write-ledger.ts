// A model of what the database has to hold: every confirmed write once, every unanswered one once or not at all.
import { selectRows } from '../helpers/database.ts';

/** Unanswered: the connection broke before the reply, so that the write may or may not have happened. */
export type Outcome = 'confirmed' | 'unanswered';

export interface Renewal {
  idempotencyKey: string;
  outcome: Outcome;
  /** The first reply, as JSON. */
  reply: string | null;
}

export interface LicenseEntry {
  holder: string;
  created: Outcome;
  /** Null if the reply did not arrive. */
  id: number | null;
  key: string | null;
  /** By fingerprint. */
  devices: Map<string, { activated: Outcome; released: Outcome | null }>;
  tokens: Outcome[];
  renewals: Renewal[];
  revoked: Outcome | null;
}

export interface Ledger {
  /** By holder, which no two licenses share. */
  licenses: Map<string, LicenseEntry>;
  /** Holders of licenses that are checked elsewhere. */
  others: Set<string>;
}

export function createLedger(): Ledger {
  return { licenses: new Map(), others: new Set() };
}

/** Highest ids of the rows that earlier rounds have been checked for. */
export interface Marks {
  licenses: number;
  activations: number;
  tokens: number;
  events: number;
  audits: number;
}

export const NO_MARKS: Marks = { licenses: 0, activations: 0, tokens: 0, events: 0, audits: 0 };

/** @param where a data directory, or the address of a PostgreSQL database */
export async function readMarks(where: string): Promise<Marks> {
  const highest = (table: string, name: string) => `(SELECT coalesce(max(id), 0) FROM ${table}) AS ${name}`;
  const [marks] = await selectRows(
    where,
    `SELECT ${highest('licenses', 'licenses')}, ${highest('activations', 'activations')},
       ${highest('authorization_tokens', 'tokens')}, ${highest('events', 'events')},
       ${highest('audit_entries', 'audits')}`,
  );
  return marks as Marks;
}

interface Stored {
  licenses: { id: number; holder: string; revoked_at: number | null; term: number }[];
  devices: { license_id: number; fingerprint: string; released_at: number | null }[];
  tokens: { license_id: number; issued: number; active: number }[];
  /** Number of events by `name license_id fingerprint`; the fingerprint only of activations. */
  events: Map<string, number>;
  /** Number of audit entries by `action license_id fingerprint`; the fingerprint only of devices. */
  audits: Map<string, number>;
}

interface Recorded {
  key: string;
  /** JSON with the fingerprint, where it belongs to the key. */
  device: string | null;
}

function countOf(rows: readonly Recorded[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { key, device } of rows) {
    const parsed = device === null ? null : (JSON.parse(device) as { machine_fingerprint: string });
    const full = parsed ? `${key} ${parsed.machine_fingerprint}` : key;
    counts.set(full, (counts.get(full) ?? 0) + 1);
  }
  return counts;
}

async function readStored(where: string, after: Marks): Promise<Stored> {
  const select = (sql: string) => selectRows(where, sql);
  return {
    licenses: await select(`SELECT id, holder, revoked_at, term FROM licenses WHERE id > ${after.licenses}`),
    devices: await select(
      `SELECT license_id, machine_fingerprint AS fingerprint, released_at FROM activations
       WHERE id > ${after.activations}`,
    ),
    tokens: await select(
      `SELECT license_id, count(*) AS issued, count(CASE WHEN status = 'active' THEN 1 END) AS active
       FROM authorization_tokens WHERE id > ${after.tokens} GROUP BY license_id`,
    ),
    events: countOf(
      await select(
        `SELECT name || ' ' || license_id AS key, CASE name WHEN 'license.activated' THEN body END AS device
         FROM events WHERE id > ${after.events}`,
      ),
    ),
    audits: countOf(
      await select(
        `SELECT action || ' ' || replace(subject, 'license:', '') AS key,
           CASE WHEN action LIKE 'device.%' THEN after_state END AS device
         FROM audit_entries WHERE id > ${after.audits}`,
      ),
    ),
  };
}

/** Whether something that is there this often agrees with what the client was told. */
function agrees(outcome: Outcome | null | undefined, count: number): boolean {
  if (outcome === 'confirmed') return count === 1;
  return outcome === 'unanswered' ? count <= 1 : count === 0;
}

function bounds(outcomes: readonly Outcome[]): [number, number] {
  return [outcomes.filter((outcome) => outcome === 'confirmed').length, outcomes.length];
}

function isWithin(count: number, [least, most]: [number, number]): boolean {
  return count >= least && count <= most;
}

/** @returns what is lost, doubled, torn or unexplained in one license */
function licenseFaults(entry: LicenseEntry, stored: Stored): string[] {
  const faults: string[] = [];
  const rows = stored.licenses.filter(({ holder }) => holder === entry.holder);
  const expect = (what: string, isRight: boolean) => {
    if (!isRight) faults.push(`${entry.holder}: ${what}`);
  };
  expect(`license ${entry.created}, stored ${rows.length} times`, agrees(entry.created, rows.length));
  const [row] = rows;
  if (!row) return faults;
  const { id } = row;
  const audits = (action: string) => stored.audits.get(`${action} ${id}`) ?? 0;
  const events = (name: string) => stored.events.get(`${name} ${id}`) ?? 0;
  expect(`${audits('license.created')} audit entries of its creation`, audits('license.created') === 1);

  const isRevoked = row.revoked_at === null ? 0 : 1;
  expect(`revocation ${entry.revoked}, stored ${isRevoked}`, agrees(entry.revoked, isRevoked));
  for (const count of [events('license.revoked'), audits('license.revoked')])
    expect(`revoked ${isRevoked}, recorded ${count} times`, count === isRevoked);

  const renewed = row.term - 1;
  const renewals = entry.renewals.map(({ outcome }) => outcome);
  expect(`term ${row.term} after renewals ${renewals}`, isWithin(renewed, bounds(renewals)));
  for (const count of [events('license.renewed'), audits('license.renewed')])
    expect(`renewed ${renewed} times, recorded ${count} times`, count === renewed);

  const tokens = stored.tokens.find(({ license_id: license }) => license === id);
  const issued = tokens?.issued ?? 0;
  expect(`${issued} tokens after ${entry.tokens}`, isWithin(issued, bounds(entry.tokens)));
  expect(`${tokens?.active} active tokens`, tokens === undefined || tokens.active === 1);

  const devices = Map.groupBy(
    stored.devices.filter(({ license_id: license }) => license === id),
    ({ fingerprint }) => fingerprint,
  );
  for (const fingerprint of devices.keys())
    expect(`unknown device ${fingerprint}`, entry.devices.has(fingerprint));
  for (const [fingerprint, device] of entry.devices) {
    const found = devices.get(fingerprint) ?? [];
    expect(
      `device ${fingerprint} ${device.activated}, stored ${found.length} times`,
      agrees(device.activated, found.length),
    );
    const released = found.filter(({ released_at: at }) => at !== null).length;
    expect(
      `device ${fingerprint}: release ${device.released}, stored ${released} times`,
      agrees(device.released, released),
    );
    const recorded = [
      stored.events.get(`license.activated ${id} ${fingerprint}`) ?? 0,
      stored.audits.get(`device.activated ${id} ${fingerprint}`) ?? 0,
    ];
    expect(
      `device ${fingerprint} stored ${found.length} times, recorded ${recorded} times`,
      recorded.every((count) => count === found.length),
    );
    const releases = stored.audits.get(`device.released ${id} ${fingerprint}`) ?? 0;
    expect(`device ${fingerprint}: ${releases} audit entries of a release`, releases === released);
  }
  return faults;
}

/**
 * Compares the ledger with all rows that are newer than the marks.
 * @param where a data directory, or the address of a PostgreSQL database
 * @returns what does not agree
 */
export async function ledgerFaults(where: string, ledger: Ledger, after: Marks): Promise<string[]> {
  const stored = await readStored(where, after);
  const unknown = stored.licenses
    .filter(({ holder }) => !ledger.licenses.has(holder) && !ledger.others.has(holder))
    .map(({ holder }) => `unknown license of ${holder}`);
  const ids = new Set(stored.licenses.map(({ id }) => id));
  const strays = stored.devices
    .filter(({ license_id: license }) => !ids.has(license))
    .map(({ license_id: license, fingerprint }) => `stray device ${fingerprint} of license ${license}`);
  const faults = [...ledger.licenses.values()].flatMap((entry) => licenseFaults(entry, stored));
  return [...unknown, ...strays, ...faults];
}

/** @returns what SQLite itself finds wrong */
export async function databaseFaults(dataDir: string): Promise<string[]> {
  const findings = await selectRows(dataDir, 'PRAGMA quick_check');
  const orphans = await selectRows(dataDir, 'PRAGMA foreign_key_check');
  return [
    ...findings.map((row) => row.quick_check as string).filter((text) => text !== 'ok'),
    ...orphans.map((row) => JSON.stringify(row)),
  ];
}
