// One pass over a file: what is wrong with it, also as a file for its author.
import { csvLine } from '#server/wire/csv.ts';
import { refuseFields } from '#server/wire/errors.ts';
import { faultyRow } from './faulty-row.ts';
import type { CheckedBatch } from './import-check.ts';
import type { ImportFiles } from './import-files.ts';
import { addFindings, type Findings, noFindings } from './import-job.ts';
import type { ImportRecipe } from './import-row.ts';
import { countFaultyColumns, faultyColumns } from './license-csv-contract.ts';
import type { ImportError } from './license-transfer-contract.ts';

export interface ImportPass {
  id: string;
  columns: readonly string[];
  batches: AsyncIterable<CheckedBatch>;
}

/** A plan or license changed between the check and the import. */
export class ChangedSinceCheckedError extends Error {
  override readonly name = 'ChangedSinceCheckedError';
  readonly errors: readonly ImportError[];

  /** @param batch the one that has new errors */
  constructor(batch?: CheckedBatch) {
    super('a plan or license has changed since the file was checked');
    this.errors = batch?.faulty.flatMap(({ errors }) => errors) ?? [];
  }
}

/** @throws ApiError `invalid_request` */
export function refuseUnknownColumns(
  { mapping, custom_fields: customFields }: ImportRecipe,
  columns: readonly string[],
): void {
  const details = Object.entries({ mapping, custom_fields: customFields }).flatMap(([part, columnOf]) =>
    Object.entries(columnOf)
      .filter(([, column]) => column !== undefined && !columns.includes(column))
      .map(([field, column]) => ({ path: `${part}.${field}`, message: `the file has no column ${column}` })),
  );
  refuseFields(details);
}

interface FindOptions {
  signal?: AbortSignal;
  /** Whether the results may still be replaced, once all rows are checked. */
  isCurrent?(): boolean;
}

/** Checks all rows, and leaves the faulty ones as a file, without the line numbers and errors of an earlier one. */
export async function findAll(
  { id, columns, batches }: ImportPass,
  files: Pick<ImportFiles, 'writeResult' | 'removeResults'>,
  { signal, isCurrent = () => true }: FindOptions = {},
): Promise<{ findings: Findings; valid: number }> {
  const findings = noFindings();
  let valid = 0;
  const earlier = countFaultyColumns(columns);
  const ownColumns = columns.slice(earlier);
  const result = await files.writeResult(id, 'faulty');
  try {
    await result.write(csvLine([...faultyColumns(ownColumns), ...ownColumns]));
    for await (const { good, faulty } of batches) {
      signal?.throwIfAborted();
      valid += good.length;
      for (const { line, cells, errors } of faulty) {
        addFindings(findings, errors);
        await result.write(csvLine(faultyRow(line, errors, cells.slice(earlier))));
      }
    }
  } catch (error) {
    await result.discard();
    throw error;
  }
  if (!isCurrent()) await result.discard();
  else if (findings.errorCount > 0) await result.keep();
  else {
    await result.discard();
    await files.removeResults(id);
  }
  return { findings, valid };
}
