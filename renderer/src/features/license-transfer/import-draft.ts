// Maps the columns of a file to license fields. The first guess can be changed.
import {
  IMPORT_FIELDS,
  type ImportField,
  type licenseTransferAdminContract,
} from '#server/features/license-transfer/license-transfer-contract.ts';
import type { ReplyOf, RequestInput } from '#server/wire/endpoint.ts';

export type UploadedFile = ReplyOf<typeof licenseTransferAdminContract.uploadImport>;
export type Preview = ReplyOf<typeof licenseTransferAdminContract.previewImport>;
export type Recipe = RequestInput<typeof licenseTransferAdminContract.runImport>;

export interface ImportDraft {
  /** Empty if the file has no such column. */
  columns: Record<ImportField, string>;
  plan: string;
  product: string;
}

/** Column names of other systems, in lowercase letters and digits, likeliest first. */
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
  plan: ['plan', 'edition', 'tier', 'licensetype', 'tarif', 'lizenztyp'],
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
    'laeuftab',
    'gueltigbis',
  ],
  days: ['days', 'durationdays', 'duration', 'termdays', 'tage', 'laufzeit'],
  order_number: ['ordernumber', 'order', 'orderid', 'ponumber', 'bestellnummer', 'auftragsnummer'],
  notes: ['notes', 'note', 'comment', 'comments', 'remarks', 'notizen', 'notiz', 'bemerkung'],
  license_key: ['licensekey', 'key', 'serial', 'serialnumber', 'lizenzschluessel', 'schluessel'],
};

function plain(name: string): string {
  return name
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

export function toRecipe(importId: string, { columns, plan, product }: ImportDraft): Recipe {
  const { holder, ...others } = columns;
  const given = Object.entries(others).filter(([, column]) => column !== '');
  return {
    import_id: importId,
    mapping: { holder, ...Object.fromEntries(given) },
    defaults: { ...(plan ? { plan } : {}), ...(product ? { product } : {}) },
  };
}
