// Which columns of a file the import takes for which fields before the administrator changes anything.
import { describe, expect, it } from 'vitest';
import { FAULTY_COLUMNS } from '#server/features/license-transfer/license-csv-contract.ts';
import { IMPORT_FIELDS } from '#server/features/license-transfer/license-transfer-contract.ts';
import { guessColumns, guessCustom } from '../../renderer/src/features/license-transfer/import-draft.ts';
import { licenseTransferMessages } from '../../renderer/src/features/license-transfer/license-transfer-messages.ts';
import { licenseMessages } from '../../renderer/src/features/licenses/license-messages.ts';

const customOf = (columns: readonly string[]) => guessCustom(columns, { columns: guessColumns(columns) });

describe('the column of a field', () => {
  const labels = Object.values(licenseTransferMessages).flatMap(({ fields }) =>
    IMPORT_FIELDS.map((field) => [field, fields[field]] as const),
  );
  it.each(labels)('%s is recognized by its label %s', (field, label) => {
    expect(guessColumns([label])[field]).toBe(label);
  });

  const headings = Object.values(licenseMessages).flatMap(({ columns }) => [
    ['holder', columns.holder] as const,
    ['plan', columns.plan] as const,
    ['product', columns.product] as const,
    ['expires_at', columns.expires] as const,
    ['license_key', columns.key] as const,
  ]);
  it.each([...headings, ['expires_at', 'Ablauf'], ['license_key', 'Schlu\u0308ssel']] as const)(
    '%s is recognized by the heading %s',
    (field, heading) => {
      expect(guessColumns([heading])[field]).toBe(heading);
    },
  );
});

describe('a custom field', () => {
  it('is none of the columns that the file of faulty rows begins with', () => {
    expect(customOf([...FAULTY_COLUMNS, 'Inhaber', 'KST'])).toEqual(['KST']);
  });

  it('is never made of a column for license keys, whatever its suffix', () => {
    const columns = ['license_key', 'license_key (file) (file)', 'license_key (file)', 'Inhaber', 'KST'];
    expect(customOf(columns)).toEqual(['KST']);
  });

  it.each([[['Inhaber', 'line', 'error']], [['line', 'Inhaber', 'error']], [['error', 'line', 'Inhaber']]])(
    'may have their names elsewhere: %j',
    (columns) => {
      expect(customOf(columns)).toEqual(columns.filter((column) => column !== 'Inhaber'));
    },
  );
});
