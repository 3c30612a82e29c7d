/**
 * The walls of the house, as the README's architecture section describes them. test/architecture.test.ts plants a
 * violation of every rule here, so a rule that no longer bites is noticed.
 */

/**
 * Matches packages where they are installed, and by bare name where they are not.
 *
 * @param {readonly string[]} names
 */
const packages = (...names) => `(^|/)node_modules/(${names.join('|')})(/|$)|^(${names.join('|')})$`;

/** Declarations of what a feature offers: no behaviour, safe to read from anywhere. */
const CONTRACT = '-contract\\.ts$';

/** What every feature stands on. */
const GROUND = '^server/(platform|database)/';

/** The only places that put features together. */
const WIRING = '^server/(compose[a-z-]*|diagnose|main|http-app|contract)\\.ts$|^server/jobs/';

const SHIPPED = '^(server|cli|electron|renderer|verifier|scripts)/';

/** Importing a type leaves no trace at run time, so it ties nothing to anything. */
const RUNTIME_ONLY = { dependencyTypesNot: ['type-only'] };

/**
 * @param {string} name
 * @param {string} comment
 * @param {object} from
 * @param {object} to
 */
const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const features = [
  forbid(
    'features-share-types-only',
    'A feature imports another feature’s types only; compose.ts hands it the functions.',
    { path: '^server/([^/]+)/', pathNot: ['^server/(jobs|platform)/'] },
    { path: '^server/[^/]+/', pathNot: ['^server/$1/', GROUND, CONTRACT], ...RUNTIME_ONLY },
  ),
  forbid(
    'features-do-not-know-the-wiring',
    'compose.ts knows the features, never the other way round.',
    { path: '^server/[^/]+/', pathNot: ['^server/jobs/'] },
    { path: '^server/[^/]+\\.ts$', pathNot: ['^server/contract\\.ts$'], ...RUNTIME_ONLY },
  ),
  forbid(
    'wiring-has-its-files',
    'Only compose.ts and its parts, diagnose.ts, main.ts, http-app.ts, contract.ts and the jobs put features together.',
    { path: '^server/[^/]+\\.ts$', pathNot: [WIRING] },
    { path: '^server/[^/]+/', pathNot: [GROUND, CONTRACT, WIRING], ...RUNTIME_ONLY },
  ),
  forbid(
    'platform-knows-no-feature',
    'The platform would serve any product: not even a feature’s types.',
    { path: '^server/platform/' },
    { path: '^server/[^/]+/', pathNot: [GROUND] },
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
    'node-forge builds certificates and does nothing else: its parsers are not for untrusted input.',
    { path: SHIPPED, pathNot: ['^server/certificates/'] },
    { path: packages('node-forge') },
  ),
  forbid(
    'got-in-webhooks',
    'Requests to addresses that users enter leave through webhooks/ alone, where they are guarded.',
    { path: SHIPPED, pathNot: ['^server/webhooks/'] },
    { path: packages('got') },
  ),
  forbid(
    'electron-in-the-shell',
    'The server, the page and the CLI run without Electron.',
    { path: SHIPPED, pathNot: ['^electron/'] },
    { path: packages('electron', '@electron-toolkit/[^/]+') },
  ),
  forbid(
    'bree-in-jobs',
    'What runs when is one list, in jobs/.',
    { path: SHIPPED, pathNot: ['^server/jobs/', '^server/compose\\.ts$'] },
    { path: packages('bree') },
  ),
];

const clients = [
  forbid(
    'verifier-is-portable',
    'The offline verifier runs wherever JavaScript does: itself and tweetnacl, no core module.',
    { path: '^verifier/' },
    { pathNot: ['^verifier/', packages('tweetnacl')] },
  ),
  forbid(
    'page-sees-contracts-only',
    'The page is a client like any other.',
    { path: '^renderer/' },
    {
      path: '^(server|cli|scripts)/',
      pathNot: [CONTRACT, '^server/contract\\.ts$', '^server/platform/(endpoint|errors|client|csv)\\.ts$'],
    },
  ),
  forbid(
    'browser-code-imports-no-core-module',
    'The page and every contract it reads run in a browser.',
    {
      path: [
        '^renderer/',
        CONTRACT,
        '^server/contract\\.ts$',
        '^server/platform/(endpoint|errors|client|csv)\\.ts$',
      ],
    },
    { dependencyTypes: ['core'] },
  ),
  forbid(
    'cli-asks-services',
    'The CLI goes through the service or the API, where rules and audit are.',
    { path: '^cli/' },
    { path: '-(store|model)\\.ts$' },
  ),
  forbid(
    'shell-is-outermost',
    'Nobody depends on the shell; the page may know the type of its bridge.',
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
  forbid(
    'tests-are-leaves',
    'Nothing that ships may need a test.',
    { pathNot: '^test/' },
    { path: '^test/' },
  ),
  forbid(
    'no-cycles',
    'Modules that need each other are one module, or miss a third.',
    {},
    { circular: true, viaOnly: RUNTIME_ONLY },
  ),
  forbid('everything-resolves', 'An import that leads nowhere.', {}, { couldNotResolve: true }),
  forbid(
    'packages-are-declared',
    'A package that is here only because another one needs it may be gone tomorrow.',
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
  forbidden: [...features, ...libraries, ...clients, ...hygiene],
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
