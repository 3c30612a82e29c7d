// Converts a row to a `createLicense` request and validates it with that request's schema. Pure.
import type { z } from 'zod';
import { licenseAdminContract } from '#server/features/licenses/license-contract.ts';
import type { LicenseOrder } from '#server/rules/license-draft.ts';
import { foldFieldName, MAX_CUSTOM_FIELDS } from '#server/wire/custom-fields.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { type BrokenRule, fixedRule } from '#server/wire/field-rules.ts';
import { endOfUtcDay } from '#server/wire/instants.ts';
import type { CsvRow } from './csv-reader.ts';
import {
  IMPORT_FIELDS,
  type ImportError,
  type ImportField,
  type licenseTransferAdminContract,
} from './license-transfer-contract.ts';
import { brokenRule, requestMessage } from '#server/wire/request-messages.ts';

export type ImportRecipe = Pick<
  RequestOf<typeof licenseTransferAdminContract.previewImport>,
  'mapping' | 'custom_fields' | 'defaults'
>;

/** What a row asks for. All of its errors are reported together, so that a file is corrected in one round. */
export interface ImportOrder {
  line: number;
  cells: readonly string[];
  /** Without the fields that have errors; null if the others are not enough. */
  order: LicenseOrder | null;
  /** Fields with errors. */
  refused: ReadonlySet<string>;
  errors: ImportError[];
  /** As written in the file; undefined if the license gets a new key. */
  licenseKey: string | undefined;
}

const PLAIN_DATE = /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/u;
/** As German spreadsheets write it: 31.12.2027, 1.2.2027. */
const DOTTED_DATE = /^(?<day>\d{1,2})\.(?<month>\d{1,2})\.(?<year>\d{4})$/u;

/** A column of the export. Its other states are those of the license's term, which an import sets. */
const STATE_COLUMN = 'state';

/** Replaces schema rules that are worded for JSON. */
const RULES: Partial<Record<ImportField, BrokenRule>> = {
  holder: fixedRule('empty'),
  email: fixedRule('not_an_email'),
  days: {
    message: 'must be a whole number of days, 1 to 36500',
    reason: 'not_in_range',
    values: { min: 1, max: 36_500 },
  },
  expires_at: fixedRule('not_a_date'),
};

/** A file can have more custom fields than a license. */
function tooManyFields(fields: object): BrokenRule {
  const values = { got: Object.keys(fields).length, max: MAX_CUSTOM_FIELDS };
  const message = `has ${values.got} custom fields; a license can have at most ${values.max}`;
  return { message, reason: 'too_many_fields', values };
}

/** The schema's own rules, and the one about a text that is too long, are for every reader. */
function ruleOfCell(issue: z.core.$ZodIssue): BrokenRule {
  const [field, name] = issue.path;
  if (field === 'custom_fields' && name === undefined) return tooManyFields(issue.input as object);
  const rule = brokenRule(issue);
  const isForEveryone = issue.code === 'custom' || rule.reason === 'too_long';
  return (isForEveryone ? undefined : RULES[field as ImportField]) ?? rule;
}

/** A plain date is the last valid day, as on the command line and in the back office. */
function toField(field: ImportField, text: string): unknown {
  if (field === 'expires_at') {
    const { day, month, year } = (PLAIN_DATE.exec(text) ?? DOTTED_DATE.exec(text))?.groups ?? {};
    return day && month ? endOfUtcDay(`${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`) : text;
  }
  return field === 'days' && /^\d{1,15}$/u.test(text) ? Number(text) : text;
}

/** @param columns the file's unique column names */
export function createRowReader(columns: readonly string[], recipe: ImportRecipe) {
  const { mapping, custom_fields: customColumns, defaults } = recipe;
  const places = IMPORT_FIELDS.flatMap((field) => {
    const column = mapping[field];
    return column === undefined ? [] : [{ field, column, index: columns.indexOf(column) }];
  });
  const customPlaces = Object.entries(customColumns).map(([name, column]) => ({
    name,
    index: columns.indexOf(column),
  }));
  /** Without such a column, its cells are empty. */
  const stateIndex = columns.findIndex((column) => foldFieldName(column) === STATE_COLUMN);
  const columnOf = ([field, name]: readonly PropertyKey[]) =>
    (field === 'custom_fields' ? customColumns[String(name)] : mapping[field as ImportField]) ?? null;
  const cellAt = (cells: readonly string[], index: number) => (cells[index] ?? '').trim();

  function customFieldsOf(cells: readonly string[]) {
    const given = customPlaces.map(({ name, index }) => [name, cellAt(cells, index)] as const);
    const fields = Object.fromEntries(given.filter(([, text]) => text !== ''));
    return Object.keys(fields).length === 0 ? {} : { custom_fields: fields };
  }

  return ({ line, cells }: CsvRow): ImportOrder => {
    if (cells.slice(columns.length).some((cell) => cell.trim() !== '')) {
      const values = { got: cells.length, max: columns.length };
      const message = `has ${values.got} cells for ${values.max} columns`;
      const errors: ImportError[] = [{ line, column: null, message, reason: 'too_many_cells', values }];
      return { line, cells, order: null, refused: new Set(), errors, licenseKey: undefined };
    }
    const fields: Record<string, unknown> = { ...defaults, ...customFieldsOf(cells) };
    for (const { field, index } of places) {
      const text = cellAt(cells, index);
      if (text !== '') fields[field] = toField(field, text);
    }
    const errors: ImportError[] = [];
    if (cellAt(cells, stateIndex).toLowerCase() === 'revoked')
      errors.push({ line, column: columns[stateIndex] ?? null, ...fixedRule('revoked_row') });
    const { license_key: licenseKey, ...request } = fields as { license_key?: string };
    const parsed = licenseAdminContract.createLicense.request.safeParse(request, {
      error: requestMessage,
      reportInput: true,
    });
    if (parsed.success) return { line, cells, order: parsed.data, refused: new Set(), errors, licenseKey };
    for (const issue of parsed.error.issues)
      errors.push({ line, column: columnOf(issue.path), ...ruleOfCell(issue) });
    const refused = new Set(parsed.error.issues.map(({ path: [field] }) => String(field)));
    const rest = Object.entries(request).filter(([field]) => !refused.has(field));
    // The other fields are checked as if the holder were given.
    const others = licenseAdminContract.createLicense.request.safeParse({
      holder: '-',
      ...Object.fromEntries(rest),
    });
    return { line, cells, order: others.success ? others.data : null, refused, errors, licenseKey };
  };
}
