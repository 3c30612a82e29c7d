// Maps the columns of a file to license fields. The first guess can be changed.
import {
  IMPORT_FIELDS,
  type ImportField,
  type licenseTransferAdminContract,
} from '#server/features/license-transfer/license-transfer-contract.ts';
import {
  countFaultyColumns,
  isLicenseColumn,
} from '#server/features/license-transfer/license-csv-contract.ts';
import { foldFieldName, MAX_CUSTOM_FIELDS, MAX_FIELD_NAME } from '#server/wire/custom-fields.ts';
import type { ReplyOf, RequestInput } from '#server/wire/endpoint.ts';
import { beginning } from '#server/wire/whole-characters.ts';

export type UploadedFile = ReplyOf<typeof licenseTransferAdminContract.uploadImport>;
export type Recipe = RequestInput<typeof licenseTransferAdminContract.runImport>;

export interface ImportDraft {
  /** Empty if the file has no such column. */
  columns: Record<ImportField, string>;
  /** Columns that become custom fields, unless they are assigned to a field of the license. */
  custom: string[];
  plan: string;
  product: string;
}

/** Column names of other systems and of the dialog, in lowercase letters and digits, likeliest first. */
const NAMES: Record<ImportField, readonly string[]> = {
  holder: [
    'holder',
    'customer',
    'customername',
    'licensee',
    'company',
    'organization',
    'name',
    'inhaber',
    'kunde',
    'firma',
  ],
  email: ['email', 'emailaddress', 'mail', 'contactemail', 'emailadresse'],
  plan: ['plan', 'planname', 'edition', 'tier', 'licensetype', 'tarif', 'lizenztyp'],
  product: ['product', 'productslug', 'productname', 'produkt'],
  expires_at: [
    'expiresat',
    'expires',
    'expiry',
    'expirydate',
    'expirationdate',
    'validuntil',
    'enddate',
    'ablaufdatum',
    'ablauf',
    'laeuftab',
    'gueltigbis',
  ],
  days: ['days', 'durationdays', 'duration', 'termdays', 'tage', 'laufzeittage', 'laufzeit'],
  order_number: ['ordernumber', 'order', 'orderid', 'ponumber', 'bestellnummer', 'auftragsnummer'],
  notes: ['notes', 'note', 'comment', 'comments', 'remarks', 'notizen', 'notiz', 'bemerkung'],
  license_key: [
    'licensekey',
    'existinglicensekey',
    'key',
    'serial',
    'serialnumber',
    'lizenzschluessel',
    'vorhandenerlizenzschluessel',
    'schluessel',
  ],
};

function plain(name: string): string {
  return name
    .normalize()
    .toLowerCase()
    .replaceAll('ä', 'ae')
    .replaceAll('ö', 'oe')
    .replaceAll('ü', 'ue')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** The server accepts an expiry date or a number of days, not both. */
export function guessColumns(columns: readonly string[]): Record<ImportField, string> {
  const named = new Map(columns.toReversed().map((column) => [plain(column), column]));
  const guess = (field: ImportField) =>
    NAMES[field].map((name) => named.get(name)).find((column) => column !== undefined) ?? '';
  const guesses = Object.fromEntries(IMPORT_FIELDS.map((field) => [field, guess(field)]));
  const found = guesses as Record<ImportField, string>;
  return found.expires_at ? { ...found, days: '' } : found;
}

const NOT_ASCII = /[^\0-\u007f]/u;

/** The first cell of the column that is not empty; if the encoding is a guess, the first one in which it matters. */
export function sampleOf({ columns, sample, encoding }: UploadedFile, column: string): string {
  const at = columns.indexOf(column);
  const cells = sample.map((row) => row[at] ?? '').filter((cell) => cell !== '');
  const telling = encoding === 'windows-1252' ? cells.find((cell) => NOT_ASCII.test(cell)) : undefined;
  return telling ?? cells[0] ?? '';
}

/** Columns without a name in the file. */
const UNNAMED = /^Column \d+$/u;

/** The columns that no field of the license takes. */
export function otherColumns(
  columns: readonly string[],
  { columns: assigned }: Pick<ImportDraft, 'columns'>,
) {
  const taken = new Set(Object.values(assigned));
  return columns.filter((column) => !taken.has(column));
}

/** All columns that the files of the server do not add by themselves, such as the state or the error of a row. */
export function guessCustom(columns: readonly string[], assigned: Pick<ImportDraft, 'columns'>): string[] {
  return otherColumns(columns.slice(countFaultyColumns(columns)), assigned)
    .filter((column) => !isLicenseColumn(column) && !UNNAMED.test(column))
    .slice(0, MAX_CUSTOM_FIELDS);
}

/** The beginning of the column's label; with a number if a field before has the same name. */
function fieldNameOf(label: string, taken: ReadonlySet<string>): string {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : ` ${number}`;
    const name = beginning(label, MAX_FIELD_NAME - suffix.length).trim() + suffix;
    if (!taken.has(foldFieldName(name))) return name;
  }
}

/** The columns that become custom fields, by name of the field. */
export function customFieldsOf(
  columns: readonly string[],
  draft: ImportDraft,
  labelOf: (column: string) => string,
): Record<string, string> {
  const chosen = otherColumns(columns, draft).filter((column) => draft.custom.includes(column));
  const taken = new Set<string>();
  return Object.fromEntries(
    chosen.map((column) => {
      const name = fieldNameOf(labelOf(column), taken);
      taken.add(foldFieldName(name));
      return [name, column];
    }),
  );
}

export function toRecipe(
  { import_id: importId, columns: all }: UploadedFile,
  draft: ImportDraft,
  labelOf: (column: string) => string,
): Recipe {
  const { columns, plan, product } = draft;
  const { holder, ...others } = columns;
  const given = Object.entries(others).filter(([, column]) => column !== '');
  return {
    import_id: importId,
    mapping: { holder, ...Object.fromEntries(given) },
    custom_fields: customFieldsOf(all, draft, labelOf),
    defaults: { ...(plan ? { plan } : {}), ...(product ? { product } : {}) },
  };
}
