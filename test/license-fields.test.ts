// A field of a license belongs in places that the compiler cannot compare. CONTRIBUTING.md lists all of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { licenseRecord } from '#server/features/licenses/license-contract.ts';
import { licenseChanges, newLicenseDetails } from '#server/features/licenses/license-details-contract.ts';
import { defineLicense } from '#server/features/licenses/license-model.ts';
import { LICENSE_COLUMNS } from '#server/features/licenses/license-query.ts';
import { ownSeatLimits } from '#server/features/licenses/license-seat-contract.ts';
import { root } from '../scripts/paths.mjs';
import { runCli } from './helpers/cli.ts';

/** Without the seat limits, whose options and inputs have their own files. */
const namesOf = (shape: object) => Object.keys(shape).filter((name) => !(name in ownSeatLimits));
const CREATED = namesOf(newLicenseDetails);
const EDITED = namesOf(licenseChanges);
const SHOWN = namesOf(licenseRecord.shape);

const optionOf = (field: string) =>
  field === 'custom_fields' ? '--field' : `--${field.replaceAll('_', '-')}`;

test.each([
  ['create', CREATED],
  ['edit', EDITED],
])('license %s has an option for every field', async (command, fields) => {
  const { stdout: help } = await runCli(['license', command, '--help']);
  const missing = fields.map(optionOf).filter((option) => !help.includes(` ${option} <`));
  expect(missing, `add these to \`license ${command}\` in cli/commands/license.ts`).toEqual([]);
});

test('the error of license edit without options names every option', async () => {
  const { stderr } = await runCli(['license', 'edit', '1']);
  const missing = EDITED.map(optionOf).filter((option) => !stderr.includes(option));
  expect(missing, 'add these to the message of changedFields() in cli/commands/license.ts').toEqual([]);
});

interface Place {
  path: string;
  fields: readonly string[];
  /** What the file contains if the field is there. */
  trace(field: string): string;
  /** Fields that do not belong there, or have another form there. */
  leftOut?: readonly string[];
}

const PLACES: [name: string, place: Place][] = [
  [
    'the output of the command line',
    {
      path: 'cli/license-text.ts',
      fields: SHOWN,
      trace: (field) => `license.${field}`,
      leftOut: ['first_activated_at'],
    },
  ],
  [
    'the CSV export',
    {
      path: 'server/features/license-transfer/license-csv-contract.ts',
      fields: SHOWN,
      trace: (field) => `license.${field},`,
      leftOut: [
        'license_id',
        'machine_fingerprint',
        'grace_ends_at',
        'features',
        'licensing',
        // One column per custom field.
        'custom_fields',
        'first_activated_at',
        'revoked_at',
        'revoke_reason',
        'seat_limits',
      ],
    },
  ],
  [
    'the form for a new license',
    {
      path: 'renderer/src/features/licenses/CreateLicenseForm.vue',
      fields: CREATED,
      trace: (field) => `refuses('${field}')`,
      // A plan is chosen from a list. Notes are entered later.
      leftOut: ['plan', 'notes'],
    },
  ],
  [
    'the edit dialog',
    {
      path: 'renderer/src/features/license-details/EditDialog.vue',
      fields: EDITED,
      trace: (field) => `refuses('${field}')`,
    },
  ],
  [
    'the details of a license',
    {
      path: 'renderer/src/features/license-details/license-facts.ts',
      fields: EDITED,
      trace: (field) => ` ${field}`,
      // FactsTab.vue shows them.
      leftOut: ['notes', 'custom_fields'],
    },
  ],
  [
    'the contract, as a field',
    { path: 'docs/contract.md', fields: CREATED, trace: (field) => `\`${field}\`` },
  ],
  ['the list of commands', { path: 'docs/commands.md', fields: CREATED, trace: optionOf }],
];

test.each(PLACES)('every field is in %s', (_name, { path, fields, trace, leftOut = [] }) => {
  const source = readFileSync(join(root, path), 'utf8');
  const missing = fields.filter((field) => !source.includes(trace(field)));
  expect(
    missing.filter((field) => !leftOut.includes(field)),
    `add these to ${path}, or to \`leftOut\` in this test if they do not belong there`,
  ).toEqual([]);
  expect(leftOut, `remove what ${path} now has from \`leftOut\` in this test`).toEqual(missing);
});

test('LICENSE_COLUMNS selects every attribute of the model', () => {
  const define = (_name: string, attributes: object) => attributes;
  const attributes = Object.keys(defineLicense({ define } as never));
  const missing = attributes.filter((name) => !LICENSE_COLUMNS.includes(`AS "${name}"`));
  // Only searches read `searchText`.
  const unread = missing.filter((name) => name !== 'searchText');
  expect(unread, 'add these to LICENSE_COLUMNS in server/features/licenses/license-query.ts').toEqual([]);
});
