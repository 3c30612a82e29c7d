// Checks a file row by row and returns either the license that a row creates or its errors.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { draftLicense, usablePlan } from '#server/rules/license-draft.ts';
import { generateLicenseKey, parseLicenseKey } from '#server/rules/license-key.ts';
import type { LicenseStore, NewLicense } from '#server/features/licenses/license-store.ts';
import type { Plan } from '#server/features/plans/plan-store.ts';
import { ApiError } from '#server/wire/errors.ts';
import { readCsv, type CsvRow } from './csv-reader.ts';
import { createRowReader, type ImportOrder, type ImportRecipe } from './import-row.ts';
import type { ImportError } from './license-transfer-contract.ts';

/** Small enough that other requests are served between two batches. */
const BATCH = 100;

export interface ImportFile {
  path: string;
  delimiter: string;
  columns: readonly string[];
}

export interface CheckedBatch {
  /** The number of rows, valid or not. */
  rows: number;
  good: { draft: NewLicense; plan: Plan }[];
  errors: ImportError[];
}

export interface CheckNeeds {
  findPlan(name: string): Promise<Plan | null>;
  findTakenKeys: LicenseStore['findTakenKeys'];
  defaultProduct: string;
}

async function* batchesOf(file: ImportFile): AsyncGenerator<CsvRow[]> {
  let batch: CsvRow[] = [];
  let isHeader = true;
  for await (const row of readCsv(file.path, file.delimiter)) {
    if (!isHeader) batch.push(row);
    isHeader = false;
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
    await nextTurn();
  }
  if (batch.length > 0) yield batch;
}

/** Tracks what one pass over a file has seen. @param now time of issue of all its licenses */
function createPass(needs: CheckNeeds, columns: readonly string[], recipe: ImportRecipe, now: number) {
  const readRow = createRowReader(columns, recipe);
  const plans = new Map<string, Promise<Plan | null>>();
  const seenKeys = new Set<string>();

  function findPlan(name: string): Promise<Plan | null> {
    const found = plans.get(name) ?? needs.findPlan(name);
    plans.set(name, found);
    return found;
  }

  /** Reads the existing key of a license in canonical form. @throws ApiError */
  function ownKey(typed: string, taken: ReadonlySet<string>): string {
    const key = parseLicenseKey(typed);
    if (key === null) throw new ApiError('invalid_request', 'invalid license key (checksum mismatch)');
    if (seenKeys.has(key)) throw new ApiError('invalid_request', 'occurs twice in the file');
    if (taken.has(key)) throw new ApiError('invalid_request', 'belongs to an existing license');
    seenKeys.add(key);
    return key;
  }

  async function draftOf({ order, licenseKey }: ImportOrder, taken: ReadonlySet<string>) {
    const { mapping } = recipe;
    let column = mapping.license_key;
    try {
      const key = licenseKey === undefined ? generateLicenseKey() : ownKey(licenseKey, taken);
      column = mapping.plan;
      const plan = usablePlan(order.plan, await findPlan(order.plan));
      column = mapping.product;
      const issue = { now, licenseKey: key, defaultProduct: needs.defaultProduct };
      return { good: { draft: draftLicense(order, plan, issue), plan } };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { error: { column: column ?? null, message: error.message } };
    }
  }

  return async (rows: readonly CsvRow[]): Promise<CheckedBatch> => {
    const checked: CheckedBatch = { rows: rows.length, good: [], errors: [] };
    const orders: ImportOrder[] = [];
    for (const row of rows) {
      const read = readRow(row);
      if (Array.isArray(read)) checked.errors.push(...read);
      else orders.push(read);
    }
    const keys = orders.map(({ licenseKey }) => parseLicenseKey(licenseKey ?? ''));
    const taken = new Set(await needs.findTakenKeys(keys.filter((key) => key !== null)));
    for (const order of orders) {
      const result = await draftOf(order, taken);
      if ('good' in result) checked.good.push(result.good);
      else checked.errors.push({ line: order.line, ...result.error });
    }
    checked.errors.sort((one, other) => one.line - other.line);
    return checked;
  };
}

/** Every pass gives the same result unless plans or licenses change in between. */
export async function* checkImport(
  needs: CheckNeeds,
  file: ImportFile,
  recipe: ImportRecipe,
  now: number,
): AsyncGenerator<CheckedBatch> {
  const check = createPass(needs, file.columns, recipe, now);
  for await (const rows of batchesOf(file)) yield await check(rows);
}
