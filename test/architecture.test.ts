import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Boundaries,
  type Files,
  findViolations,
  loadBoundaries,
  withTree,
} from './helpers/planted-tree.ts';

/** A tree that does everything that is allowed; the violations below are planted into it. */
const SOUND: Files = {
  'server/process/main.ts': "import './start-server.ts';\n",
  'server/process/start-server.ts':
    "import { compose } from '#server/wiring/compose.ts';\nimport '#server/jobs/schedule.ts';\ncompose();\n",
  'server/contract.ts':
    "import { planContract } from './features/plans/plan-contract.ts';\nexport const contract = [planContract];\n",
  'server/wiring/http-app.ts': "import express from 'express';\nexport const app = express();\n",
  'server/wiring/compose.ts': `import './http-app.ts';
import '../contract.ts';
import { createPlanService } from '../features/plans/plan-service.ts';
import { createLicenseService } from '#server/features/licenses/license-service.ts';
export const compose = () => createLicenseService(createPlanService());
`,
  'server/wire/endpoint.ts': 'export const endpoint = (path: string) => path;\n',
  'server/wire/client.ts': "import { endpoint } from './endpoint.ts';\nexport const client = endpoint;\n",
  'server/platform/config.ts':
    "import 'node:fs';\nimport '../wire/endpoint.ts';\nexport const config = {};\n",
  'server/installation/data-directory.ts':
    "import '../database/connect.ts';\nimport '../platform/config.ts';\n",
  'server/rules/license-key.ts':
    "import { hash } from 'node:crypto';\nimport '../wire/endpoint.ts';\nexport const parse = hash;\n",
  'server/database/connect.ts':
    "import 'sequelize';\nimport 'sqlite3';\nexport const connect = () => undefined;\n",
  'server/database/migrate.ts': "import 'umzug';\n",
  'server/features/plans/plan-contract.ts':
    "import { endpoint } from '../../wire/endpoint.ts';\nexport const planContract = endpoint('/plans');\n",
  'server/features/plans/plan-model.ts': "import 'sequelize';\nexport const planModel = {};\n",
  'server/features/plans/plan-store.ts':
    "import { planModel } from './plan-model.ts';\nimport '#server/database/connect.ts';\nexport const planStore = planModel;\n",
  'server/features/plans/plan-service.ts': `import { planStore } from './plan-store.ts';
import '../../rules/license-key.ts';
export type PlanService = object;
export const createPlanService = (): PlanService => planStore;
`,
  'server/features/licenses/license-service.ts': `import { type PlanService } from '../plans/plan-service.ts';
import { planContract } from '../plans/plan-contract.ts';
export type LicenseService = { path: string };
export const createLicenseService = (_plans: PlanService): LicenseService => ({ path: planContract });
`,
  'server/features/certificates/certificate-builder.ts': "import 'node-forge';\n",
  'server/features/webhooks/webhook-sender.ts': "import 'got';\n",
  'server/jobs/schedule.ts': "import 'bree';\nimport '../features/plans/plan-service.ts';\n",
  'verifier/verify.ts': "import 'tweetnacl';\nexport const verify = () => true;\n",
  'cli/main.ts':
    "import '../server/process/main.ts';\nimport '../server/wire/client.ts';\nimport '../verifier/verify.ts';\n",
  'electron/bridge.ts': 'export type Bridge = { appInfo(): string };\n',
  'electron/main.ts': "import 'electron';\nimport '@electron-toolkit/utils';\nimport './bridge.ts';\n",
  'renderer/src/App.vue': `<script setup lang="ts">
import 'vue';
import type { Bridge } from '../../electron/bridge.ts';
import { contract } from '../../server/contract.ts';
import { client } from '../../server/wire/client.ts';
import { verify } from '../../verifier/verify.ts';
defineProps<{ bridge: Bridge }>();
void [contract, client, verify];
</script>
<template><p /></template>
`,
  'scripts/seed.ts': "import '../server/database/connect.ts';\nimport './seed/plans.ts';\n",
  'scripts/seed/plans.ts': "import '../../server/features/plans/plan-model.ts';\n",
  'test/plan.test.ts': "import '../server/features/plans/plan-service.ts';\nimport 'sqlite3';\n",
};

const script = (code: string) => `<script setup lang="ts">\n${code}\n</script>\n<template><p /></template>\n`;

/** One row for each way to break a rule: the rule, the way, the files that break it. */
const VIOLATIONS: readonly [rule: string, way: string, files: Files][] = [
  [
    'features-share-types-only',
    'a service calls another feature’s service',
    {
      'server/features/licenses/license-policy.ts':
        "import { createPlanService } from '../plans/plan-service.ts';\ncreatePlanService();\n",
    },
  ],
  [
    'features-share-types-only',
    'a feature re-exports another’s functions',
    { 'server/features/licenses/license-policy.ts': "export * from '../plans/plan-service.ts';\n" },
  ],
  [
    'features-share-types-only',
    'a feature loads another while it runs',
    {
      'server/features/licenses/license-policy.ts':
        "export const load = () => import('../plans/plan-service.ts');\n",
    },
  ],
  [
    'platform-knows-no-feature',
    'the database knows a feature',
    { 'server/database/models.ts': "import '../features/plans/plan-model.ts';\n" },
  ],
  [
    'features-do-not-know-the-wiring',
    'a feature reaches for the application',
    {
      'server/features/licenses/license-policy.ts':
        "import { app } from '../../wiring/http-app.ts';\nexport const same = app;\n",
    },
  ],
  [
    'features-do-not-know-the-wiring',
    'a feature takes a type from a process',
    {
      'server/process/status.ts': 'export type Status = string;\n',
      'server/features/licenses/license-policy.ts':
        "import type { Status } from '../../process/status.ts';\nexport type Same = Status;\n",
    },
  ],
  [
    'only-wiring-uses-features',
    'a second place puts features together',
    { 'server/shortcuts.ts': "import './features/plans/plan-service.ts';\n" },
  ],
  [
    'wire-stands-alone',
    'a declaration for clients uses the platform',
    {
      'server/wire/fields.ts':
        "import type { config } from '../platform/config.ts';\nexport type Same = typeof config;\n",
    },
  ],
  [
    'rules-are-pure',
    'a rule queries the database',
    {
      'server/rules/license-age.ts': "import { connect } from '../database/connect.ts';\nconnect();\n",
    },
  ],
  [
    'rules-are-pure',
    'a rule takes a feature’s type',
    {
      'server/rules/license-age.ts':
        "import type { LicenseService } from '../features/licenses/license-service.ts';\nexport type Same = LicenseService;\n",
    },
  ],
  [
    'nothing-from-above',
    'the platform takes a type of the database',
    {
      'server/platform/error-handler.ts':
        "import type { connect } from '../database/connect.ts';\nexport type Same = typeof connect;\n",
    },
  ],
  [
    'nothing-from-above',
    'the wiring takes a job’s type',
    {
      'server/jobs/tickets.ts': 'export type Ticket = number;\n',
      'server/wiring/service.ts':
        "import type { Ticket } from '../jobs/tickets.ts';\nexport type Same = Ticket;\n",
    },
  ],
  [
    'nothing-from-above',
    'the database asks where it is installed',
    { 'server/database/own-place.ts': "import '../installation/data-directory.ts';\n" },
  ],
  [
    'nothing-from-above',
    'a job takes a type from a process',
    {
      'server/process/status.ts': 'export type Status = string;\n',
      'server/jobs/status-report.ts':
        "import type { Status } from '../process/status.ts';\nexport type Same = Status;\n",
    },
  ],
  ['rules-are-pure', 'a rule reads a file', { 'server/rules/license-age.ts': "import 'node:fs';\n" }],
  [
    'platform-knows-no-feature',
    'the platform takes a feature’s type',
    {
      'server/platform/route.ts':
        "import type { PlanService } from '../features/plans/plan-service.ts';\nexport type Same = PlanService;\n",
    },
  ],
  [
    'platform-knows-no-feature',
    'the platform reads a contract',
    {
      'server/platform/route.ts':
        "import { planContract } from '../features/plans/plan-contract.ts';\nexport const same = planContract;\n",
    },
  ],
  ...['sequelize', 'sqlite3', 'pg', 'umzug'].map((name): [string, string, Files] => [
    'database-libraries-in-stores',
    `a service uses ${name}`,
    { 'server/features/plans/plan-report.ts': `import '${name}';\n` },
  ]),
  [
    'database-libraries-in-stores',
    'a service takes a type from Sequelize',
    {
      'server/features/plans/plan-report.ts':
        "import type { Transaction } from 'sequelize';\nexport type Same = Transaction;\n",
    },
  ],
  [
    'forge-in-certificates',
    'licenses sign with forge',
    { 'server/features/licenses/license-file.ts': "import 'node-forge';\n" },
  ],
  [
    'got-in-webhooks',
    'a feature sends its own request',
    { 'server/features/plans/plan-sync.ts': "import 'got';\n" },
  ],
  ['got-in-webhooks', 'the CLI sends its own request', { 'cli/fetch.ts': "import 'got';\n" }],
  [
    'electron-in-the-shell',
    'the page imports the shell’s helpers',
    { 'renderer/src/About.vue': script("import '@electron-toolkit/utils';") },
  ],
  [
    'bree-in-jobs',
    'a feature schedules by itself',
    { 'server/features/plans/plan-timer.ts': "import 'bree';\n" },
  ],
  ['verifier-is-portable', 'the verifier reads a file', { 'verifier/read.ts': "import 'node:fs';\n" }],
  ['verifier-is-portable', 'the same, by the old name', { 'verifier/read.ts': "import 'fs';\n" }],
  [
    'verifier-is-portable',
    'the verifier borrows from the server',
    { 'verifier/read.ts': "import '../server/wire/endpoint.ts';\n" },
  ],
  [
    'verifier-is-portable',
    'the verifier takes another package',
    { 'verifier/read.ts': "import 'express';\n" },
  ],
  [
    'page-sees-contracts-only',
    'a page calls a service',
    {
      'renderer/src/Plans.vue': script(
        "import { createPlanService } from '../../server/features/plans/plan-service.ts';\ncreatePlanService();",
      ),
    },
  ],
  [
    'page-sees-contracts-only',
    'a page takes a service’s type',
    {
      'renderer/src/plans-state.ts':
        "import type { PlanService } from '../../server/features/plans/plan-service.ts';\nexport type Same = PlanService;\n",
    },
  ],
  [
    'browser-code-imports-no-core-module',
    'a page reads a file',
    { 'renderer/src/Files.vue': script("import { readFile } from 'node:fs/promises';\nvoid readFile;") },
  ],
  [
    'browser-code-imports-no-core-module',
    'a contract reads a file',
    { 'server/features/statistics/statistics-contract.ts': "import 'node:fs';\n" },
  ],
  [
    'cli-asks-services',
    'a command reads a store',
    { 'cli/commands/plan.ts': "import '../../server/features/plans/plan-store.ts';\n" },
  ],
  [
    'cli-asks-services',
    'a command reads a model',
    { 'cli/commands/plan.ts': "import '../../server/features/plans/plan-model.ts';\n" },
  ],
  [
    'shell-is-outermost',
    'the server imports the shell',
    { 'server/platform/shell.ts': "import '../../electron/bridge.ts';\n" },
  ],
  [
    'only-the-seed-script-writes-the-database',
    'another script opens the database',
    { 'scripts/repair.ts': "import '../server/database/connect.ts';\n" },
  ],
  [
    'tests-are-leaves',
    'the product imports a test',
    { 'server/features/plans/plan-fake.ts': "import '../../../test/plan.test.ts';\n" },
  ],
  [
    'no-cycles',
    'two files need each other',
    {
      'verifier/a.ts': "import './b.ts';\n",
      'verifier/b.ts': "import './c.ts';\n",
      'verifier/c.ts': "import './a.ts';\n",
    },
  ],
  [
    'no-cycles',
    'two files need each other’s types',
    {
      'verifier/a.ts': "import type { B } from './b.ts';\nexport type A = B;\n",
      'verifier/b.ts': "import type { A } from './a.ts';\nexport type B = A | null;\n",
    },
  ],
  [
    'everything-resolves',
    'a file that is not there',
    { 'server/features/plans/plan-gone.ts': "import './gone.ts';\n" },
  ],
  [
    'packages-are-declared',
    'an undeclared package',
    { 'server/features/plans/plan-luck.ts': "import 'undeclared';\n" },
  ],
  [
    'product-needs-no-dev-dependency',
    'the server needs a build-time package',
    { 'server/features/plans/plan-view.ts': "import 'vue';\n" },
  ],
];

describe('the import boundaries', () => {
  let boundaries: Boundaries;
  beforeAll(async () => {
    boundaries = await loadBoundaries();
  });

  // That this project keeps to them is the suite `boundaries`.
  test('allow what the architecture allows', async () => {
    expect(await withTree(SOUND, (tree) => findViolations(boundaries, tree))).toEqual([]);
  });

  test.each(VIOLATIONS)('%s: %s', async (rule, _way, files) => {
    const violations = await withTree({ ...SOUND, ...files }, (tree) => findViolations(boundaries, tree));
    expect([...new Set(violations.map((violation) => violation.rule))]).toEqual([rule]);
  });

  test('are each proved above', () => {
    const proven = new Set(VIOLATIONS.map(([rule]) => rule));
    const declared = (boundaries.options.ruleSet?.forbidden ?? []).map(({ name }) => name);
    expect(declared.filter((name) => name && !proven.has(name))).toEqual([]);
  });
});
