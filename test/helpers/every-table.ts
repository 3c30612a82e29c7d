// Uses a server until every table has rows, and reads everything that its endpoints show.
import { adminContract } from '#server/contract.ts';
import {
  type AdminRowName,
  callAdmin,
  callRow,
  newBearer,
  newFloatingLicense,
  newInstanceId,
  newLease,
  newLicense,
  ROWS,
  SAMPLES,
} from './contract-calls.ts';
import { writeRows } from './database.ts';
import { fingerprintOf, type TestServer } from './test-server.ts';

/** Each character that COPY or JSON writes in its own way, and some that take two, three and four bytes. */
const NASTY = `a\\b\\N "q" $1 \t tab\n line\r\n \u0008\u000B\u000C\u0001\u007F é 漢 🗝️ \u2028`;

/** What only the clock writes. */
const LATER_ROWS = [
  `INSERT INTO license_notices (license_id, name, term) SELECT id, 'license.expiring', 1 FROM licenses`,
  `INSERT INTO pruned_deliveries (status, count) VALUES ('delivered', 9007199254740991)`,
  `INSERT INTO retention_runs (kind, ran_at, removed, removed_total) VALUES ('events', 1, 2, 3)`,
  // An ID that was assigned and removed again is not assigned a second time.
  `UPDATE licenses SET notes = '${NASTY}' WHERE id = 1`,
  `UPDATE licenses SET notes = '' WHERE id = 2`,
  `INSERT INTO authorization_counts (day, product) VALUES ('2026-01-01', 'Ö'), ('2026-01-01', 'a'), ('2026-01-01', 'Z')`,
  `UPDATE sqlite_sequence SET seq = seq + 1000 WHERE name = 'events'`,
];

/** Otherwise jobs write while a server that reads is running: retries, notices, ends of leases, states of pools. */
const NOTHING_IS_DUE = [
  `UPDATE deliveries SET status = 'failed', next_attempt_at = NULL WHERE next_attempt_at IS NOT NULL`,
  `UPDATE licenses SET notice_due_at = NULL WHERE notice_due_at < (strftime('%s', 'now') + 86400) * 1000`,
  `UPDATE leases SET due_at = due_at + 86400000, wait_until = wait_until + 86400000 WHERE ended_at IS NULL`,
  'UPDATE lease_pools SET free_since = NULL, covered_since = NULL',
];

async function useWhatTheContractLeavesOut(server: TestServer): Promise<void> {
  const { admin, post } = server;
  const license = await newLicense(server, {
    holder: 'Nová 漢 "q" \\N',
    custom_fields: { 'Cost "center"\\': 'a\\nb' },
    plan: 'enterprise',
  });
  const { license_key } = license;
  await post('/authorize/', { license_key, machine_fingerprint: fingerprintOf(0xbad) });
  const floating = await newFloatingLicense(server, { seats: 1 });
  await newLease(server, floating);
  await post('/leases/checkout/', { license_key: floating.license_key, instance_id: newInstanceId() });
  await admin.issueLicenseFile({ license: license_key });
  await admin.rotateSigningKey({});
  await admin.issueLicenseFile({ license: license_key });
  const { import_id } = await admin.uploadImport({ file: new Blob(['holder\nImported\n']) });
  await admin.runImport({ import_id, mapping: { holder: 'holder' } });
  await admin.finishFirstRun({});
  const { key_id } = await admin.publicKey({});
  await admin.distrustSigningKey({ key_id });
}

/** Fills every table of a SQLite installation, and leaves nothing for jobs to do within a day. Stops the server. */
export async function useEverything(server: TestServer): Promise<void> {
  const bearer = await newBearer(server);
  // A delivery that fails at once.
  await server.admin.registerWebhook({ url: 'https://127.0.0.1:1/all', scope: 'all' });
  for (const [name, row] of ROWS) {
    const headers = row.method === 'POST' ? { ...bearer, 'idempotency-key': name } : bearer;
    await callRow(server, row, await SAMPLES[name](server), headers);
  }
  await useWhatTheContractLeavesOut(server);
  await server.stop();
  await writeRows(server.dataDir, ...LATER_ROWS, ...NOTHING_IS_DUE);
}

/** States of the process, and times that pass. */
const OWN: ReadonlySet<string> = new Set([
  'health',
  'healthLive',
  'healthReady',
  'listAlerts',
  'serverInfo',
  'listServers',
  'status',
  'showSettings',
  'showSession',
  'listSessions',
  'showBackups',
  'showRestore',
  'showRetention',
]);

/** The move adds an audit entry, and leases lose no time while no server runs. */
function comparable(reply: unknown): unknown {
  return JSON.parse(JSON.stringify(reply), (key, value: unknown) => {
    if (key === 'expires_in' || key === 'expires_at' || key === 'recent') return undefined;
    if (!Array.isArray(value)) return value;
    return value.filter(
      (item) =>
        item !== 'database.moved' && (item as { action?: unknown } | null)?.action !== 'database.moved',
    );
  });
}

/** The bodies of all successful replies to GET without parameters, by endpoint. */
export async function readEverything(server: TestServer): Promise<Record<string, unknown>> {
  const names = Object.entries(adminContract)
    .filter(([name, { method }]) => method === 'GET' && !OWN.has(name))
    .map(([name]) => name as AdminRowName);
  const replies: Record<string, unknown> = {};
  for (const name of names) {
    const { shape } = adminContract[name].request as unknown as { shape: object };
    // Files are not JSON.
    const reply = await callAdmin(server, name, 'limit' in shape ? { limit: 500 } : {}).catch(() => null);
    if (reply?.status === 200) replies[name] = comparable(reply.body);
  }
  return replies;
}
