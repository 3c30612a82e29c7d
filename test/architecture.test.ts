import { beforeAll, describe, expect, test } from 'vitest';
import { findViolations, loadWalls, withTree, type Files, type Walls } from './helpers/planted-tree.ts';

/** Everything a tree may do: the violations below are planted into this one. */
const SOUND: Files = {
  'server/main.ts': "import './start-server.ts';\n",
  'server/start-server.ts':
    "import { compose } from './compose.ts';\nimport './jobs/schedule.ts';\ncompose();\n",
  'server/contract.ts':
    "import { planContract } from './plans/plan-contract.ts';\nexport const contract = [planContract];\n",
  'server/http-app.ts': "import express from 'express';\nexport const app = express();\n",
  'server/compose.ts': `import './http-app.ts';
import './contract.ts';
import './jobs/schedule.ts';
import { createPlanService } from './plans/plan-service.ts';
import { createLicenseService } from './licenses/license-service.ts';
export const compose = () => createLicenseService(createPlanService());
`,
  'server/platform/endpoint.ts': 'export const endpoint = (path: string) => path;\n',
  'server/platform/client.ts': "import { endpoint } from './endpoint.ts';\nexport const client = endpoint;\n",
  'server/platform/config.ts': "import 'node:fs';\nexport const config = {};\n",
  'server/database/connect.ts':
    "import 'sequelize';\nimport 'sqlite3';\nexport const connect = () => undefined;\n",
  'server/database/migrate.ts': "import 'umzug';\n",
  'server/plans/plan-contract.ts':
    "import { endpoint } from '../platform/endpoint.ts';\nexport const planContract = endpoint('/plans');\n",
  'server/plans/plan-model.ts': "import 'sequelize';\nexport const planModel = {};\n",
  'server/plans/plan-store.ts':
    "import { planModel } from './plan-model.ts';\nimport '../database/connect.ts';\nexport const planStore = planModel;\n",
  'server/plans/plan-service.ts': `import type { LicenseService } from '../licenses/license-service.ts';
import { planStore } from './plan-store.ts';
export type PlanService = { licenses?: LicenseService };
export const createPlanService = (): PlanService => planStore;
`,
  'server/licenses/license-service.ts': `import { type PlanService } from '../plans/plan-service.ts';
import { planContract } from '../plans/plan-contract.ts';
export type LicenseService = { path: string };
export const createLicenseService = (_plans: PlanService): LicenseService => ({ path: planContract });
`,
  'server/certificates/certificate-builder.ts': "import 'node-forge';\n",
  'server/webhooks/webhook-sender.ts': "import 'got';\n",
  'server/jobs/schedule.ts': "import 'bree';\nimport '../plans/plan-service.ts';\n",
  'verifier/verify.ts': "import 'tweetnacl';\nexport const verify = () => true;\n",
  'cli/main.ts':
    "import '../server/main.ts';\nimport '../server/platform/client.ts';\nimport '../verifier/verify.ts';\n",
  'electron/bridge.ts': 'export type Bridge = { appInfo(): string };\n',
  'electron/main.ts': "import 'electron';\nimport '@electron-toolkit/utils';\nimport './bridge.ts';\n",
  'renderer/src/App.vue': `<script setup lang="ts">
import 'vue';
import type { Bridge } from '../../electron/bridge.ts';
import { contract } from '../../server/contract.ts';
import { client } from '../../server/platform/client.ts';
import { verify } from '../../verifier/verify.ts';
defineProps<{ bridge: Bridge }>();
void [contract, client, verify];
</script>
<template><p /></template>
`,
  'scripts/seed.ts': "import '../server/database/connect.ts';\nimport './seed/plans.ts';\n",
  'scripts/seed/plans.ts': "import '../../server/plans/plan-model.ts';\n",
  'test/plan.test.ts': "import '../server/plans/plan-service.ts';\nimport 'sqlite3';\n",
};

const script = (code: string) => `<script setup lang="ts">\n${code}\n</script>\n<template><p /></template>\n`;

/** One row for each way through a wall: the wall, the way, the files that take it. */
const VIOLATIONS: readonly [wall: string, way: string, files: Files][] = [
  [
    'features-share-types-only',
    'a service calls another feature’s service',
    {
      'server/licenses/license-policy.ts':
        "import { createPlanService } from '../plans/plan-service.ts';\ncreatePlanService();\n",
    },
  ],
  [
    'features-share-types-only',
    'a feature re-exports another’s functions',
    { 'server/licenses/license-policy.ts': "export * from '../plans/plan-service.ts';\n" },
  ],
  [
    'features-share-types-only',
    'a feature loads another while it runs',
    {
      'server/licenses/license-policy.ts': "export const load = () => import('../plans/plan-service.ts');\n",
    },
  ],
  [
    'features-share-types-only',
    'the database knows a feature',
    { 'server/database/models.ts': "import '../plans/plan-model.ts';\n" },
  ],
  [
    'features-do-not-know-the-wiring',
    'a feature reaches for the application',
    {
      'server/licenses/license-policy.ts':
        "import { app } from '../http-app.ts';\nexport const same = app;\n",
    },
  ],
  [
    'wiring-has-its-files',
    'a second place puts features together',
    { 'server/shortcuts.ts': "import '../server/plans/plan-service.ts';\n" },
  ],
  [
    'platform-knows-no-feature',
    'the platform takes a feature’s type',
    {
      'server/platform/route.ts':
        "import type { PlanService } from '../plans/plan-service.ts';\nexport type Same = PlanService;\n",
    },
  ],
  [
    'platform-knows-no-feature',
    'the platform reads a contract',
    {
      'server/platform/route.ts':
        "import { planContract } from '../plans/plan-contract.ts';\nexport const same = planContract;\n",
    },
  ],
  ...['sequelize', 'sqlite3', 'pg', 'umzug'].map((name): [string, string, Files] => [
    'database-libraries-in-stores',
    `a service uses ${name}`,
    { 'server/plans/plan-report.ts': `import '${name}';\n` },
  ]),
  [
    'database-libraries-in-stores',
    'a service takes a type from Sequelize',
    {
      'server/plans/plan-report.ts':
        "import type { Transaction } from 'sequelize';\nexport type Same = Transaction;\n",
    },
  ],
  [
    'forge-in-certificates',
    'licenses sign with forge',
    { 'server/licenses/license-file.ts': "import 'node-forge';\n" },
  ],
  ['got-in-webhooks', 'a feature sends its own request', { 'server/plans/plan-sync.ts': "import 'got';\n" }],
  ['got-in-webhooks', 'the CLI sends its own request', { 'cli/fetch.ts': "import 'got';\n" }],
  [
    'electron-in-the-shell',
    'the page imports the shell’s helpers',
    { 'renderer/src/About.vue': script("import '@electron-toolkit/utils';") },
  ],
  ['bree-in-jobs', 'a feature schedules by itself', { 'server/plans/plan-timer.ts': "import 'bree';\n" }],
  ['verifier-is-portable', 'the verifier reads a file', { 'verifier/read.ts': "import 'node:fs';\n" }],
  ['verifier-is-portable', 'the same, by the old name', { 'verifier/read.ts': "import 'fs';\n" }],
  [
    'verifier-is-portable',
    'the verifier borrows from the server',
    { 'verifier/read.ts': "import '../server/platform/endpoint.ts';\n" },
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
        "import { createPlanService } from '../../server/plans/plan-service.ts';\ncreatePlanService();",
      ),
    },
  ],
  [
    'page-sees-contracts-only',
    'a page takes a service’s type',
    {
      'renderer/src/plans-state.ts':
        "import type { PlanService } from '../../server/plans/plan-service.ts';\nexport type Same = PlanService;\n",
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
    { 'server/stats/stats-contract.ts': "import 'node:fs';\n" },
  ],
  [
    'cli-asks-services',
    'a command reads a store',
    { 'cli/commands/plan.ts': "import '../../server/plans/plan-store.ts';\n" },
  ],
  [
    'cli-asks-services',
    'a command reads a model',
    { 'cli/commands/plan.ts': "import '../../server/plans/plan-model.ts';\n" },
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
    { 'server/plans/plan-fake.ts': "import '../../test/plan.test.ts';\n" },
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
    'everything-resolves',
    'a file that is not there',
    { 'server/plans/plan-gone.ts': "import './gone.ts';\n" },
  ],
  [
    'packages-are-declared',
    'a package nobody declared',
    { 'server/plans/plan-luck.ts': "import 'undeclared';\n" },
  ],
  [
    'product-needs-no-dev-dependency',
    'the server needs a build-time package',
    { 'server/plans/plan-view.ts': "import 'vue';\n" },
  ],
];

describe('the walls between the parts', () => {
  let walls: Walls;
  beforeAll(async () => {
    walls = await loadWalls();
  });

  test('stand in this project', async () => {
    expect(await findViolations(walls)).toEqual([]);
  });

  test('let through what is allowed', async () => {
    expect(await withTree(SOUND, (tree) => findViolations(walls, tree))).toEqual([]);
  });

  test.each(VIOLATIONS)('%s: %s', async (wall, _way, files) => {
    const violations = await withTree({ ...SOUND, ...files }, (tree) => findViolations(walls, tree));
    expect([...new Set(violations.map((violation) => violation.wall))]).toEqual([wall]);
  });

  test('are each proven above', () => {
    const proven = new Set(VIOLATIONS.map(([wall]) => wall));
    const declared = (walls.options.ruleSet?.forbidden ?? []).map((rule) => rule.name);
    expect(declared.filter((name) => name && !proven.has(name))).toEqual([]);
  });
});
