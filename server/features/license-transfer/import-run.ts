// Issues the licenses of a checked file in one transaction, and writes their keys to a file.
import type { AuditService } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { issuedLicense } from '#server/rules/license-draft.ts';
import { toLicenseRecord } from '#server/rules/license-presenter.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { csvLine } from '#server/wire/csv.ts';
import type { CheckedBatch } from './import-check.ts';
import type { ImportFiles } from './import-files.ts';
import type { ImportJob } from './import-job.ts';
import { ChangedSinceCheckedError, type ImportPass } from './import-pass.ts';
import { keyColumns } from './license-csv-contract.ts';
import type { LicenseImportStore } from './license-import-store.ts';
import { oneAhead } from './one-ahead.ts';

export interface ImportRunNeeds {
  licenses: Pick<LicenseStore, 'insertAll'>;
  imports: LicenseImportStore;
  files: Pick<ImportFiles, 'writeResult'>;
  audit: Pick<AuditService, 'record' | 'recordAll'>;
  transaction: RunTransaction;
  clock: Clock;
  /** The licenses of an import are issued, but the file of their keys could not be stored. */
  onKeysLost(error: unknown): void;
}

interface ImportRun {
  id: string;
  job: ImportJob;
  /** The number of faulty rows, which are left out. */
  skipRows: number;
  newPass(): ImportPass;
  call: Call;
  signal: AbortSignal;
}

type ResultFile = Awaited<ReturnType<ImportFiles['writeResult']>>;

export function createImportRun(needs: ImportRunNeeds) {
  const { licenses, imports, files, audit, transaction, clock } = needs;

  async function insert({ good }: CheckedBatch, call: Call): Promise<void> {
    const now = clock.now();
    const ids = await licenses.insertAll(good.map(({ draft }) => draft));
    const changes = good.map(({ draft, plan }, index) => {
      const license = issuedLicense(ids[index] as number, draft, plan);
      return { subject: `license:${license.id}`, before: null, after: toLicenseRecord(license, now) };
    });
    await audit.recordAll(call, 'license.created', changes);
  }

  /** Requires a transaction, which undoes everything if the import is interrupted. */
  async function insertFile({ id, job, skipRows, newPass, call, signal }: ImportRun, keys: ResultFile) {
    await keys.write(csvLine(keyColumns(job.form.columns)));
    const total = job.form.rows - skipRows;
    await imports.insert({ importId: id, licenses: total, finishedAt: clock.now() });
    const plans: Record<string, number> = {};
    job.done = 0;
    let skipped = 0;
    for await (const batch of oneAhead(newPass().batches)) {
      signal.throwIfAborted();
      skipped += batch.faulty.length;
      if (skipped > skipRows) throw new ChangedSinceCheckedError(batch);
      await insert(batch, call);
      for (const { draft, cells } of batch.good) await keys.write(csvLine([draft.licenseKey, ...cells]));
      for (const { plan } of batch.good) plans[plan.name] = (plans[plan.name] ?? 0) + 1;
      job.done += batch.rows;
    }
    if (skipped !== skipRows) throw new ChangedSinceCheckedError();
    const left = skipped === 0 ? {} : { skipped_rows: skipped };
    await audit.record(call, 'licenses.imported', `import:${id}`, null, { licenses: total, plans, ...left });
  }

  /** After an error no license is issued, unless the database was away and could not say so. */
  return async (run: ImportRun): Promise<void> => {
    let keys = null as ResultFile | null;
    const discardKeys = async () => {
      await keys?.discard();
      keys = null;
    };
    const attempt = async () => {
      // PostgreSQL may have rolled back an attempt with other keys.
      await discardKeys();
      run.signal.throwIfAborted();
      if ((await imports.findDone(run.id)) !== null) return;
      keys = await files.writeResult(run.id, 'keys');
      await insertFile(run, keys);
    };
    try {
      await transaction(attempt, undefined, { alone: true });
    } catch (error) {
      const isDone = (await imports.findDone(run.id).catch(() => null)) !== null;
      // Only the answer to the commit was lost.
      if (!isDone) {
        await discardKeys();
        throw error;
      }
    }
    // Without the file, the list of licenses still has the keys.
    await keys?.keep().catch(needs.onKeysLost);
  };
}
