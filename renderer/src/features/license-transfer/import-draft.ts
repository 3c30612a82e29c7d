// Maps the columns of a file to license fields. The first guess can be changed.
import {
  IMPORT_FIELDS,
  type ImportField,
  type licenseTransferAdminContract,
  MAX_IMPORT_FIELDS,
} from '#server/features/license-transfer/license-transfer-contract.ts';
import { customColumns, fieldsOfColumns } from '#server/features/license-transfer/import-columns-contract.ts';
import type { ReplyOf, RequestInput } from '#server/wire/endpoint.ts';

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

/** The columns that no field of the license takes. */
export function otherColumns(
  columns: readonly string[],
  { columns: assigned }: Pick<ImportDraft, 'columns'>,
) {
  const taken = new Set(Object.values(assigned));
  return columns.filter((column) => !taken.has(column));
}

/** The columns that become custom fields unless the administrator decides otherwise. */
export function guessCustom(columns: readonly string[], { columns: assigned }: Pick<ImportDraft, 'columns'>) {
  return customColumns(columns, Object.values(assigned)).slice(0, MAX_IMPORT_FIELDS);
}

/** The columns that become custom fields, by name of the field. */
export function customFieldsOf(
  columns: readonly string[],
  draft: ImportDraft,
  labelOf: (column: string) => string,
): Record<string, string> {
  const chosen = otherColumns(columns, draft).filter((column) => draft.custom.includes(column));
  return fieldsOfColumns(chosen, labelOf);
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
