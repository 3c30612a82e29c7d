// Each table has one store that writes it. A store that reads another one's table is listed here.
import { describe, expect, it } from 'vitest';
import { knownTables, serverSources, type Sources, tableUse } from './helpers/table-use.ts';

const OWNERS: Record<string, string> = {
  activations: 'activations/activation-store.ts',
  admin_sessions: 'admin-session/shared-session-store.ts',
  api_tokens: 'api-tokens/api-token-store.ts',
  audit_entries: 'audit/audit-store.ts',
  authorization_counts: 'authorization-tokens/authorization-usage-store.ts',
  authorization_tokens: 'authorization-tokens/authorization-token-store.ts',
  borrowed_lease_files: 'leases/lease-file-store.ts',
  certificate_authorities: 'certificates/authority-store.ts',
  certificate_keys: 'certificates/certificate-store.ts',
  certificates: 'certificates/certificate-store.ts',
  denied_calls: 'denied-calls/denied-call-store.ts',
  deliveries: 'webhooks/delivery-store.ts',
  delivery_attempts: 'webhooks/delivery-store.ts',
  distrust_lists: 'signing/signing-key-store.ts',
  earlier_license_files: 'activations/activation-store.ts',
  events: 'events/event-store.ts',
  idempotent_replies: 'idempotency/idempotent-reply-store.ts',
  lease_clock: 'leases/lease-clock-store.ts',
  lease_denials: 'leases/lease-denial-store.ts',
  lease_groups: 'lease-rules/lease-group-store.ts',
  lease_pools: 'leases/pool-store.ts',
  lease_rules: 'lease-rules/lease-rule-store.ts',
  lease_usage: 'leases/lease-usage-store.ts',
  leases: 'leases/lease-store.ts',
  license_imports: 'license-transfer/license-import-store.ts',
  license_notices: 'events/event-store.ts',
  licenses: 'licenses/license-store.ts',
  plans: 'plans/plan-store.ts',
  pruned_deliveries: 'webhooks/delivery-store.ts',
  retention_runs: 'retention/retention-run-store.ts',
  revocation_entries: 'certificates/revocation-list-store.ts',
  revocation_lists: 'certificates/revocation-list-store.ts',
  servers: 'servers/server-store.ts',
  service_marks: 'storage/service-mark-store.ts',
  sign_in_codes: 'admin-session/shared-session-store.ts',
  signing_keys: 'signing/signing-key-store.ts',
  // SQLite's own table, which only a restore changes.
  sqlite_sequence: 'backup/restored-database-store.ts',
  unbound_license_files: 'activations/activation-store.ts',
  webhooks: 'webhooks/webhook-store.ts',
};

/** Joins that answer in one statement, and figures over everything. */
const FOREIGN_READS: Record<string, string[]> = {
  'activations/activation-store.ts': ['licenses', 'signing_keys'],
  'authorization-tokens/authorization-lookup-store.ts': [
    'activations',
    'authorization_tokens',
    'licenses',
    'plans',
  ],
  'authorization-tokens/authorization-token-store.ts': ['licenses'],
  'backup/restore-comparison-store.ts': [
    'api_tokens',
    'audit_entries',
    'authorization_tokens',
    'certificates',
    'distrust_lists',
    'licenses',
    'revocation_entries',
    'revocation_lists',
    'signing_keys',
    'sqlite_sequence',
  ],
  'backup/restored-access-store.ts': ['api_tokens', 'webhooks'],
  'backup/newer-objects-store.ts': [
    'certificate_authorities',
    'certificates',
    'licenses',
    'revocation_entries',
    'signing_keys',
  ],
  'denied-calls/denied-call-store.ts': ['licenses'],
  'events/event-store.ts': ['deliveries', 'licenses'],
  'first-run/first-run-store.ts': ['licenses'],
  'lease-rules/lease-group-store.ts': ['lease_rules'],
  'lease-rules/lease-rule-store.ts': ['lease_groups', 'licenses'],
  'leases/lease-denial-store.ts': ['licenses'],
  'leases/lease-file-store.ts': ['signing_keys'],
  'leases/lease-list-store.ts': ['leases', 'licenses'],
  'leases/lease-lookup-store.ts': ['lease_pools', 'leases', 'licenses', 'plans'],
  'leases/pool-list-store.ts': ['lease_pools', 'lease_usage', 'licenses', 'plans'],
  'leases/pool-store.ts': ['licenses', 'plans'],
  'licenses/license-finder-store.ts': ['licenses'],
  'licenses/license-query.ts': ['activations', 'lease_pools', 'licenses', 'plans'],
  'licenses/license-store.ts': ['plans'],
  'licenses/license-timeline-store.ts': ['audit_entries', 'authorization_tokens', 'certificates', 'events'],
  'live/live-store.ts': ['audit_entries', 'delivery_attempts', 'events'],
  'overview/overview-store.ts': ['licenses', 'plans'],
  'retention/storage-figures-store.ts': [
    'audit_entries',
    'deliveries',
    'delivery_attempts',
    'denied_calls',
    'events',
    'idempotent_replies',
    'lease_denials',
    'lease_usage',
    'leases',
    'license_imports',
    'webhooks',
  ],
  'signing/reissue-store.ts': [
    'activations',
    'borrowed_lease_files',
    'earlier_license_files',
    'leases',
    'licenses',
    'plans',
    'unbound_license_files',
  ],
  'statistics/license-count-store.ts': ['licenses', 'plans'],
  'statistics/statistics-store.ts': [
    'activations',
    'authorization_counts',
    'authorization_tokens',
    'certificates',
    'deliveries',
    'licenses',
    'pruned_deliveries',
    'webhooks',
  ],
  'webhooks/delivery-list-store.ts': ['deliveries', 'delivery_attempts', 'events', 'webhooks'],
  'webhooks/delivery-query.ts': ['webhooks'],
  'webhooks/delivery-store.ts': ['events', 'webhooks'],
  'webhooks/webhook-store.ts': ['deliveries'],
};

const FEATURES = 'server/features/';
const sources = serverSources();
const tables = knownTables();

/** What breaks the rules, in words. */
function violationsIn(files: Sources): string[] {
  const { writers, foreignReads, unclear } = tableUse(files, tables);
  return [
    ...unclear.map((write) => `no table that can be told: ${write}`),
    ...Object.entries(writers).flatMap(([table, paths]) =>
      paths.filter((path) => path !== FEATURES + OWNERS[table]).map((path) => `${path} writes ${table}`),
    ),
    ...Object.entries(foreignReads).flatMap(([path, read]) =>
      read
        .filter((table) => !FOREIGN_READS[path.replace(FEATURES, '')]?.includes(table))
        .map((table) => `${path} reads ${table}`),
    ),
  ];
}

it('writes each table in one store, and reads no other one’s but those listed', () => {
  const advice =
    'a table is written by its owner in OWNERS only: call that store, or its service, instead. ' +
    'If a join needs another store’s table, list the read in FOREIGN_READS in this test';
  expect(violationsIn(sources), advice).toEqual([]);
});

it('has an owner for every table, and lists no read that is gone', () => {
  const { writers, foreignReads } = tableUse(sources, tables);
  const ownersAdvice =
    'list each table that a migration creates in OWNERS in this test, with the store that writes it';
  expect(Object.keys(OWNERS).toSorted(), ownersAdvice).toEqual(tables.toSorted());
  expect(Object.keys(writers), 'a table in OWNERS that no store writes').toEqual(tables.toSorted());
  const named = Object.entries(FOREIGN_READS).map(([path, read]) => [FEATURES + path, read]);
  const readsAdvice =
    'FOREIGN_READS in this test must list exactly the reads of tables that another store writes';
  expect(foreignReads, readsAdvice).toEqual(Object.fromEntries(named));
});

describe('finds a planted', () => {
  const path = `${FEATURES}plans/plan-store.ts`;
  const plant = (line: string, file = path) => ({ ...sources, [file]: `${sources[file] ?? ''}\n${line}` });

  it.each([
    ['INSERT', 'const SQL = `INSERT INTO licenses (id) VALUES (1)`;', 'writes licenses'],
    ['UPDATE', "const SQL = 'UPDATE webhooks SET url = $url';", 'writes webhooks'],
    [
      'UPDATE over several lines',
      'const SQL = `\n  UPDATE\n    events\n  SET body = $body`;',
      'writes events',
    ],
    ['DELETE', "const SQL = 'DELETE FROM audit_entries';", 'writes audit_entries'],
    ['removal by age', "removeOldest(sql, 'deliveries', 'created_at');", 'writes deliveries'],
    ['model', 'const licenses = defineLicense(sequelize);', 'writes licenses'],
    ['read', 'const SQL = `SELECT 1 FROM certificates`;', 'reads certificates'],
    ['join', 'const SQL = `SELECT 1 FROM plans p JOIN activations a ON TRUE`;', 'reads activations'],
    ['separate FROM clause', "const FROM = 'api_tokens t';", 'reads api_tokens'],
  ])('%s', (_, line, violation) => {
    expect(violationsIn(plant(line))).toContain(`${path} ${violation}`);
  });

  it('write whose table cannot be told', () => {
    const table = '\u0024{table}';
    expect(violationsIn(plant(`const SQL = \`DELETE FROM ${table}\`;`))).toEqual([
      `no table that can be told: ${path}: ${table}`,
    ]);
  });

  it('write outside a store', () => {
    const service = `${FEATURES}plans/plan-service.ts`;
    expect(violationsIn(plant("sql.run('DELETE FROM plans');", service))).toEqual([
      `${service} writes plans`,
    ]);
  });

  it('nothing in a comment', () => {
    expect(violationsIn(plant('// DELETE FROM licenses\n/** UPDATE webhooks SET url */'))).toEqual([]);
  });
});
