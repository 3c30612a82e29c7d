/** The parts of `npm run test:long`, in order. Node 20 built-ins only. */

/**
 * @typedef {object} Lane
 * @property {string} name
 * @property {number} count rounds or requests, unless `--rounds` or `--requests` says otherwise
 * @property {'rounds' | 'requests'} [countedIn] none for a table, whose rows are always the same
 * @property {number} minutes the lane fails if it takes longer
 * @property {string} [program]
 * @property {readonly string[]} [testFiles] of Vitest or Playwright, not both; they read their rounds from LICENSE_DESK_ROUNDS
 * @property {string} [checked]
 */

/** @type {readonly Lane[]} */
export const lanes = [
  { name: 'disk-full', count: 1, minutes: 5, program: 'test/long/disk-full.ts' },
  { name: 'damage', count: 1, minutes: 10, program: 'test/long/damage.ts' },
  { name: 'read-only', count: 1, minutes: 5, program: 'test/long/read-only.ts' },
  { name: 'clock', count: 1, minutes: 10, program: 'test/long/clock.ts' },
  { name: 'packaging', count: 1, minutes: 20, program: 'test/long/packaging.ts' },
  { name: 'move-database', count: 1_000_000, minutes: 30, program: 'test/long/move-database.ts' },
  {
    name: 'kill-starts',
    count: 20,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/robustness/kill.test.ts'],
    checked: 'confirmed activations survive kill -9; a first start that was killed anywhere is repeated',
  },
  {
    name: 'list-upkeep',
    count: 30,
    countedIn: 'rounds',
    minutes: 5,
    testFiles: ['test/robustness/certificate-time.test.ts'],
    checked: 'the CRL is in force for thirty days without a call',
  },
  {
    name: 'fuzz',
    count: 500,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/robustness/fuzz.test.ts'],
    checked: 'every endpoint answers anything at all within its contract',
  },
  {
    name: 'fuzz-http',
    count: 10_000,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/robustness/fuzz-http.test.ts'],
    checked: 'both listeners answer any method, path, header and body in the envelope',
  },
  {
    name: 'tampering',
    count: 5000,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/verifier/tampering.test.ts'],
    checked: 'the verifier refuses every altered license file, and any text, without a crash',
  },
  {
    name: 'fuzz-certificates',
    count: 10_000,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/robustness/certificate-fuzz.test.ts'],
    checked: 'no altered certificate is valid, and none causes an error of the server',
  },
  {
    name: 'long-list',
    count: 100_000,
    minutes: 5,
    testFiles: ['test/certificates/crl-builder.test.ts'],
    checked: 'OpenSSL verifies a CRL of 100,000 entries and counts them',
  },
  {
    name: 'docs-commands',
    count: 1,
    minutes: 15,
    testFiles: ['test/docs-commands.test.ts'],
    checked: 'the shell commands of README.md and all guides work in bash and in zsh',
  },
  {
    name: 'kill-certificates',
    count: 50,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/robustness/certificate-kill.test.ts'],
    checked: 'answered issues and revocations survive kill -9; the CRL has every revocation',
  },
  {
    name: 'kill-backups',
    count: 200,
    countedIn: 'rounds',
    minutes: 60,
    testFiles: ['test/robustness/backup-kill.test.ts'],
    checked:
      'kill -9 leaves no broken daily backup; leftovers go, the next backup runs, each listed one is restored',
  },
  {
    name: 'kill-restores',
    count: 1,
    minutes: 10,
    testFiles: ['test/server/restore-killed.test.ts', 'test/server/restore-meanwhile.test.ts'],
    checked: 'a restore that is killed at any step leaves the old installation or the new one',
  },
  {
    name: 'kill-moves',
    count: 1,
    minutes: 15,
    testFiles: ['test/server/move-killed.test.ts'],
    checked: 'a move that is killed at any step leaves the old database in use or the new one',
  },
  {
    name: 'kill-live-moves',
    count: 1,
    minutes: 15,
    testFiles: ['test/server/live-move.test.ts'],
    checked: 'a server that is killed at any step of its move loses nothing, and can be moved again',
  },
  {
    name: 'upgrades',
    count: 1,
    minutes: 15,
    testFiles: ['test/server/upgrade.test.ts'],
    checked: 'a database of each earlier version is upgraded with all that is in it',
  },
  {
    name: 'wrong-clocks',
    count: 1,
    minutes: 10,
    testFiles: ['test/robustness/faketime.test.ts', 'test/leases/lease-clocks.test.ts'],
    checked: 'clocks that jump, on servers and on clients, end no lease and send no notice',
  },
  {
    name: 'kill-deliveries',
    count: 30,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/webhooks/dispatch-kill.test.ts'],
    checked: 'no delivery is lost by kill -9; repeated ones are identical',
  },
  {
    name: 'kill-leases',
    count: 200,
    countedIn: 'rounds',
    minutes: 30,
    testFiles: ['test/leases/lease-kill.test.ts'],
    checked: 'confirmed leases survive kill -9; seats in use equal the leases; no client gets a second seat',
  },
  {
    name: 'race-leases',
    count: 1000,
    countedIn: 'rounds',
    minutes: 90,
    testFiles: ['test/leases/lease-races.test.ts'],
    checked:
      '200 clients on 10 seats get exactly 10, units and overdraft are exact, on SQLite and on three servers over PostgreSQL',
  },
  {
    name: 'race-certificates',
    count: 1000,
    countedIn: 'rounds',
    minutes: 10,
    testFiles: ['test/robustness/certificate-races.test.ts'],
    checked:
      'certificates issued and revoked at once are all different, and on the CRL once that is answered',
  },
  {
    name: 'race-revocations',
    count: 50,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/robustness/revocation-storm.test.ts'],
    checked: 'what is taken away is refused from the next call on, in a storm of calls',
  },
  {
    name: 'verify-deliveries',
    count: 150,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/webhooks/dispatch-verify.test.ts', 'test/webhooks/dispatch-two-servers.test.ts'],
    checked: 'other implementations verify the signature of every delivery, and of none that was altered',
  },
  {
    name: 'model-authorizations',
    count: 10_000,
    countedIn: 'rounds',
    minutes: 30,
    testFiles: ['test/server/authorization-model.test.ts'],
    checked: 'answers from memory are those of a model after every random change, restores included',
  },
  {
    name: 'fact-cache',
    count: 10_000,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/server/fact-cache.test.ts'],
    checked: 'facts in memory never go back behind a confirmed commit, in random interleavings',
  },
  {
    name: 'searches',
    count: 300,
    countedIn: 'rounds',
    minutes: 15,
    testFiles: ['test/server/postgres-reads.test.ts'],
    checked: 'searches find the same on PostgreSQL as on SQLite, with all indices, with some and with none',
  },
  {
    name: 'every-screen',
    count: 1,
    minutes: 20,
    testFiles: ['test/e2e/keyboard.spec.ts', 'test/e2e/more-contrast.spec.ts', 'test/e2e/reflow.spec.ts'],
    checked: 'every screen at every size: focus, contrast of 7:1, nothing beyond the edge',
  },
  {
    name: 'desktop-modes',
    count: 5,
    countedIn: 'rounds',
    minutes: 90,
    program: 'test/long/desktop-modes.ts',
  },
  // Runs for as long as its time limit.
  { name: 'cluster', count: 1, minutes: 20, program: 'test/long/cluster.ts' },
  { name: 'kill', count: 1000, countedIn: 'rounds', minutes: 40, program: 'test/long/kill.ts' },
  { name: 'hostile', count: 1_000_000, countedIn: 'requests', minutes: 30, program: 'test/long/hostile.ts' },
];
