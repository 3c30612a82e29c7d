// Checks a file row by row and returns either the license that a row creates or all of its errors.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { draftLicense, usablePlan } from '#server/rules/license-draft.ts';
import { generateLicenseKey, parseLicenseKey } from '#server/rules/license-key.ts';
import type { NewLicense } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Plan } from '#server/rules/plan.ts';
import { ApiError, type ErrorDetail, failureOfField } from '#server/wire/errors.ts';
import { type FixedReason, fixedRule } from '#server/wire/field-rules.ts';
import { type CsvFormat, type CsvRow, readCsv } from './csv-reader.ts';
import { createRowReader, type ImportOrder, type ImportRecipe } from './import-row.ts';
import type { ImportError } from './license-transfer-contract.ts';

/** Small enough that other requests are served between two batches. */
const BATCH = 100;

export interface ImportFile extends CsvFormat {
  path: string;
  columns: readonly string[];
}

export interface CheckedBatch {
  /** The number of rows, valid or not. */
  rows: number;
  good: { draft: NewLicense; plan: Plan; cells: readonly string[] }[];
  faulty: { line: number; cells: readonly string[]; errors: readonly ImportError[] }[];
}

export interface CheckNeeds {
  findPlan(name: string): Promise<Plan | null>;
  findTakenKeys: LicenseStore['findTakenKeys'];
  defaultProduct: string;
}

async function* batchesOf(file: ImportFile): AsyncGenerator<CsvRow[]> {
  let batch: CsvRow[] = [];
  let isHeader = true;
  for await (const row of readCsv(file.path, file)) {
    if (!isHeader) batch.push(row);
    isHeader = false;
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
    await nextTurn();
  }
  if (batch.length > 0) yield batch;
}

/** The finding names the column, so the message does not name the field. */
const refusedKey = (reason: FixedReason): ApiError =>
  failureOfField('invalid_request', 'license_key', fixedRule(reason));

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
    if (key === null) throw refusedKey('not_a_license_key');
    if (seenKeys.has(key)) throw refusedKey('repeated_key');
    if (taken.has(key)) throw refusedKey('key_in_use');
    seenKeys.add(key);
    return key;
  }

  /** What `work` returns, or the error that it adds. */
  async function noting<Result>(
    errors: ImportError[],
    { line, column }: { line: number; column: string | undefined },
    work: () => Result | Promise<Result>,
  ): Promise<Result | null> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const [{ reason, values } = {} as Partial<ErrorDetail>] = error.details ?? [];
      errors.push({ line, column: column ?? null, message: error.message, reason, values });
      return null;
    }
  }

  async function draftOf(asked: ImportOrder, taken: ReadonlySet<string>) {
    const { line, order, licenseKey: typed, refused } = asked;
    const { mapping } = recipe;
    const errors = [...asked.errors];
    const own =
      typed === undefined
        ? null
        : await noting(errors, { line, column: mapping.license_key }, () => ownKey(typed, taken));
    const plan =
      order === null || refused.has('plan')
        ? null
        : await noting(errors, { line, column: mapping.plan }, async () =>
            usablePlan(order.plan, await findPlan(order.plan)),
          );
    const issue = { now, licenseKey: own ?? generateLicenseKey(), defaultProduct: needs.defaultProduct };
    const draft =
      order === null || plan === null
        ? null
        : await noting(errors, { line, column: mapping.product }, () => draftLicense(order, plan, issue));
    return { errors, good: draft !== null && plan !== null && errors.length === 0 ? { draft, plan } : null };
  }

  return async (rows: readonly CsvRow[]): Promise<CheckedBatch> => {
    const checked: CheckedBatch = { rows: rows.length, good: [], faulty: [] };
    const orders = rows.map((row) => readRow(row));
    const keys = orders.map(({ licenseKey }) => parseLicenseKey(licenseKey ?? ''));
    const taken = new Set(await needs.findTakenKeys(keys.filter((key) => key !== null)));
    for (const order of orders) {
      const { line, cells } = order;
      const { good, errors } = await draftOf(order, taken);
      if (good) checked.good.push({ ...good, cells });
      else checked.faulty.push({ line, cells, errors });
    }
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
