/**
 * Import boundaries, as docs/architecture.md describes them. test/architecture.test.ts plants a violation of every
 * rule here, so a rule that no longer works is noticed.
 *
 * The server's folders, from the ground up: `wire` (browser-safe declarations) → `rules`, `platform` →
 * `database` → `installation` → `features/<name>` → `wiring` → `jobs` → `process`. Nothing imports what is above it, not
 * even a type.
 */

/**
 * Matches packages where they are installed, and by bare name where they are not.
 *
 * @param {readonly string[]} names
 */
const packages = (...names) => `(^|/)node_modules/(${names.join('|')})(/|$)|^(${names.join('|')})$`;

/** Declarations of what a feature offers: no behavior, safe to import from anywhere. */
const CONTRACT = '-contract\\.ts$';

/** Declarations shared with clients that run in a browser. */
const BROWSER_SAFE = [CONTRACT, '^server/contract\\.ts$', '^server/wire/'];

const SHIPPED = '^(server|cli|electron|renderer|verifier|scripts)/';

/** A type import leaves no trace at run time, so it creates no dependency between features. */
const RUNTIME_ONLY = { dependencyTypesNot: ['type-only'] };

/**
 * @param {string} name
 * @param {string} comment
 * @param {object} from
 * @param {object} to
 */
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

/** Rooms and those above them; the other rules of `layers` forbid the rest. */
const NEXT_ABOVE = [
  ['platform', 'database|installation'],
  ['database', 'installation'],
  ['wiring', 'jobs|process'],
  ['jobs', 'process'],
];

const layers = [
  forbid(
    'features-share-types-only',
    'A feature imports types and contracts of other features; wiring/ hands it their functions.',
    { path: '^server/features/([^/]+)/' },
    { path: '^server/features/', pathNot: ['^server/features/$1/', CONTRACT], ...RUNTIME_ONLY },
  ),
  forbid(
    'only-wiring-uses-features',
    'Features are put together in wiring/, in the jobs and in the processes that run them.',
    {
      path: '^server/',
      pathNot: [
        '^server/(features|wiring|jobs|process|platform|wire|database|installation)/',
        '^server/contract\\.ts$',
      ],
    },
    { path: '^server/features/', ...RUNTIME_ONLY },
  ),
  forbid(
    'features-do-not-know-the-wiring',
    'wiring/, jobs/ and process/ know the features, never the other way round.',
    { path: '^server/', pathNot: ['^server/(wiring|jobs|process)/'] },
    { path: '^server/(wiring|jobs|process)/' },
  ),
  forbid(
    'platform-knows-no-feature',
    'The platform would serve any product: it does not even import a type of a feature or a rule.',
    { path: '^server/(platform|wire|database|installation)/' },
    { path: '^server/(features|rules)/|^server/contract\\.ts$' },
  ),
  forbid(
    'wire-stands-alone',
    'Declarations for clients need nothing of the server.',
    { path: '^server/wire/' },
    { path: '^server/', pathNot: ['^server/wire/'] },
  ),
  forbid(
    'rules-are-pure',
    'Rules decide from what they are given: they reach no database, network, disk or clock, and no feature’s types.',
    { path: '^server/rules/' },
    {
      path: '^server/(?!rules/|wire/)|^(node:)?(fs|http|https|net|child_process|worker_threads)',
    },
  ),
  ...NEXT_ABOVE.map(([room, above]) =>
    forbid(
      'nothing-from-above',
      'A room of the server builds on those below it, and needs none above it, not even a type.',
      { path: `^server/${room}/` },
      { path: `^server/(${above})/` },
    ),
  ),
];

const libraries = [
  forbid(
    'database-libraries-in-stores',
    'Only stores, models and database/ know Sequelize and the drivers.',
    { path: SHIPPED, pathNot: ['-store\\.ts$', '-model\\.ts$', '^server/database/'] },
    { path: packages('sequelize', 'sqlite3', 'pg', 'umzug') },
  ),
  forbid(
    'forge-in-certificates',
    'node-forge builds certificates and nothing else: its parsers are not for untrusted input.',
    { path: SHIPPED, pathNot: ['^server/features/certificates/'] },
    { path: packages('node-forge') },
  ),
  forbid(
    'got-in-webhooks',
    'Requests to addresses that users enter leave through webhooks/ alone, where they are guarded.',
    { path: SHIPPED, pathNot: ['^server/features/webhooks/'] },
    { path: packages('got') },
  ),
  forbid(
    'electron-in-the-shell',
    'The server, the back office and the CLI run without Electron.',
    { path: SHIPPED, pathNot: ['^electron/'] },
    { path: packages('electron', '@electron-toolkit/[^/]+') },
  ),
  forbid(
    'bree-in-jobs',
    'Everything that runs on a schedule is listed in jobs/.',
    { path: SHIPPED, pathNot: ['^server/jobs/'] },
    { path: packages('bree') },
  ),
];

const clients = [
  forbid(
    'verifier-is-portable',
    'The offline verifier runs wherever JavaScript does: it imports itself and tweetnacl, no core module.',
    { path: '^verifier/' },
    { pathNot: ['^verifier/', packages('tweetnacl')] },
  ),
  forbid(
    'page-sees-contracts-only',
    'The back office is a client like any other.',
    { path: '^renderer/' },
    { path: '^(server|cli|scripts)/', pathNot: BROWSER_SAFE },
  ),
  forbid(
    'browser-code-imports-no-core-module',
    'The back office and every contract it reads run in a browser.',
    { path: ['^renderer/', ...BROWSER_SAFE] },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'cli-asks-services',
    'The CLI goes through the service or the API, which apply the rules and write the audit log.',
    { path: '^cli/' },
    { path: '-(store|model)\\.ts$' },
  ),
  forbid(
    'shell-is-outermost',
    'Nothing depends on the desktop shell; the back office may import the type of its bridge.',
    { path: SHIPPED, pathNot: ['^electron/'] },
    { path: '^electron/', ...RUNTIME_ONLY },
  ),
  forbid(
    'only-the-seed-script-writes-the-database',
    'Scripts work through the product; seeding a large database is the exception.',
    { path: '^scripts/', pathNot: ['^scripts/seed(/|[^/]*\\.ts$)'] },
    { path: '^server/database/|-(store|model)\\.ts$' },
  ),
];

const hygiene = [
  forbid('tests-are-leaves', 'Shipped code never imports a test.', { pathNot: '^test/' }, { path: '^test/' }),
  forbid(
    'no-cycles',
    'Modules that need each other, even for a type, are one module or lack a third.',
    {},
    { circular: true },
  ),
  forbid(
    'everything-resolves',
    'An import that resolves to nothing.',
    // Its types are generated by the test that compiles it.
    { pathNot: '^test/openapi/typescript-client/flow\\.ts$' },
    { couldNotResolve: true },
  ),
  forbid(
    'packages-are-declared',
    'A package that is only a dependency of another one may be gone tomorrow.',
    { path: SHIPPED },
    { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  ),
  forbid(
    'product-needs-no-dev-dependency',
    'A packaged product has no devDependencies.',
    { path: '^(server|cli|verifier)/' },
    { dependencyTypes: ['npm-dev'], ...RUNTIME_ONLY },
  ),
];

export default {
  forbidden: [...layers, ...libraries, ...clients, ...hygiene],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(out|dist|coverage|test-results|playwright-report)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mjs', '.js', '.vue', '.d.ts', '.d.mts'],
    },
  },
};
