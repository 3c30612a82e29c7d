// Imports files of licenses: uploaded once, previewed any number of times, then imported completely or not at all.
import { setTimeout as delay } from 'node:timers/promises';
import type { AuditService } from '#server/features/audit/audit-service.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { issuedLicense } from '#server/rules/license-draft.ts';
import { toLicenseRecord } from '#server/rules/license-presenter.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { csvLine } from '#server/wire/csv.ts';
import { Document } from '#server/platform/document.ts';
import { ApiError } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { checkImport, type CheckedBatch, type CheckNeeds } from './import-check.ts';
import type { ImportFiles } from './import-files.ts';
import {
  addFindings,
  doneStatus,
  type ImportJob,
  inspectCsv,
  newJob,
  noFindings,
  toStatus,
} from './import-job.ts';
import { ChangedSinceCheckedError, findAll, type ImportPass, refuseUnknownColumns } from './import-pass.ts';
import type { LicenseImportStore } from './license-import-store.ts';
import { CSV, type ImportStatus, type licenseTransferAdminContract } from './license-transfer-contract.ts';
import { oneAhead } from './one-ahead.ts';

interface Needs extends Omit<CheckNeeds, 'findTakenKeys'> {
  licenses: Pick<LicenseStore, 'findTakenKeys' | 'insertAll'>;
  imports: LicenseImportStore;
  files: ImportFiles;
  audit: Pick<AuditService, 'record' | 'recordAll'>;
  transaction: RunTransaction;
  clock: Clock;
}

type Recipe = RequestOf<typeof licenseTransferAdminContract.previewImport>;
type RunRecipe = RequestOf<typeof licenseTransferAdminContract.runImport>;
type ResultFile = Awaited<ReturnType<ImportFiles['writeResult']>>;

/** A stopping server has five seconds in total. */
const STOP_TIMEOUT_MS = 1000;
/** Limited because the files take disk space in the data directory. */
const MAX_WAITING = 20;
const RETRY_AFTER_SECONDS = 60;
/** Before the columns of the file. */
const KEY_COLUMN = 'license_key';
const CANCELLED = new Error('the import was canceled');
const SERVER_STOPS = new Error('the server is stopping');

export function createLicenseImportService(needs: Needs) {
  const { licenses, imports, files, audit, transaction, clock } = needs;
  const checkNeeds: CheckNeeds = { ...needs, findTakenKeys: licenses.findTakenKeys };
  const jobs = new Map<string, ImportJob>();
  let isEnding = false;

  async function forgetOld(): Promise<void> {
    const now = clock.now();
    for (const [id, job] of jobs) if (!job.running && now - job.createdAt > DAY_MS) jobs.delete(id);
    await files.removeForgotten();
  }

  /**
   * @returns only the status, if the import was completed before this process started @throws ApiError
   *   `import_not_found`
   */
  async function find(id: string): Promise<{ job: ImportJob } | { status: ImportStatus }> {
    const job = jobs.get(id);
    if (job) return { job };
    const done = await imports.findDone(id);
    if (done !== null) return { status: doneStatus(id, done) };
    if (!files.has(id)) throw new ApiError('import_not_found', 'import not found; upload the file again');
    const form = await inspectCsv(files.pathOf(id));
    // A concurrent call may have created the job first.
    const found = jobs.get(id) ?? newJob(form, clock.now());
    jobs.set(id, found);
    return { job: found };
  }

  const pass = (id: string, { form }: ImportJob, recipe: Recipe): ImportPass => ({
    id,
    columns: form.columns,
    batches: checkImport(checkNeeds, { ...form, path: files.pathOf(id) }, recipe, clock.now()),
  });

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
  async function insertFile(
    id: string,
    job: ImportJob,
    recipe: RunRecipe,
    { keys, call, signal }: { keys: ResultFile; call: Call; signal: AbortSignal },
  ) {
    signal.throwIfAborted();
    if ((await imports.findDone(id)) !== null) return;
    const total = job.form.rows - recipe.skip_rows;
    await imports.insert({ importId: id, licenses: total, finishedAt: clock.now() });
    const plans: Record<string, number> = {};
    job.done = 0;
    let skipped = 0;
    for await (const batch of oneAhead(pass(id, job, recipe).batches)) {
      signal.throwIfAborted();
      skipped += batch.faulty.length;
      if (skipped > recipe.skip_rows) throw new ChangedSinceCheckedError(batch);
      await insert(batch, call);
      for (const { draft, cells } of batch.good) await keys.write(csvLine([draft.licenseKey, ...cells]));
      for (const { plan } of batch.good) plans[plan.name] = (plans[plan.name] ?? 0) + 1;
      job.done += batch.rows;
    }
    if (skipped !== recipe.skip_rows) throw new ChangedSinceCheckedError();
    const left = skipped === 0 ? {} : { skipped_rows: skipped };
    await audit.record(call, 'licenses.imported', `import:${id}`, null, { licenses: total, plans, ...left });
  }

  async function importFile(
    id: string,
    job: ImportJob,
    recipe: RunRecipe,
    call: Call,
    signal: AbortSignal,
  ): Promise<void> {
    const keys = await files.writeResult(id, 'keys');
    try {
      await keys.write(csvLine([KEY_COLUMN, ...job.form.columns]));
      await transaction(() => insertFile(id, job, recipe, { keys, call, signal }), undefined, {
        alone: true,
      });
    } catch (error) {
      await keys.discard();
      throw error;
    }
    await keys.keep();
  }

  async function work(id: string, job: ImportJob, recipe: RunRecipe, call: Call, signal: AbortSignal) {
    try {
      await files.touch(id);
      // Checks before the transaction, which blocks other writers.
      const { findings, valid } = await findAll(pass(id, job, recipe), files, signal);
      job.findings = findings;
      const faulty = job.form.rows - valid;
      if (faulty !== recipe.skip_rows || valid === 0) {
        job.state = 'failed';
        return;
      }
      await importFile(id, job, recipe, call, signal);
      job.state = 'done';
      job.skipped = faulty;
      job.done = job.form.rows;
      // The import is complete even if the file cannot be removed; it is removed within a day.
      await files.remove(id).catch(() => {});
    } catch (error) {
      job.done = 0;
      job.state = 'failed';
      if (error instanceof ChangedSinceCheckedError) addFindings(job.findings, error.errors);
      else if (error === SERVER_STOPS) job.state = 'uploaded';
      else if (error === CANCELLED) await drop(id, job);
      else throw error;
    }
  }

  async function drop(id: string, job: ImportJob): Promise<void> {
    job.state = 'cancelled';
    await files.remove(id);
    await files.removeResults(id);
  }

  /** Concurrent calls wait for the same import. */
  function run(id: string, job: ImportJob, recipe: RunRecipe, call: Call): Promise<void> {
    if (job.running) return job.running.ended;
    if (isEnding)
      throw new ApiError('unavailable', 'the server is stopping; run the import after the restart');
    refuseUnknownColumns(recipe, job.form.columns);
    const stop = new AbortController();
    job.state = 'running';
    job.done = 0;
    job.findings = noFindings();
    const ended = work(id, job, recipe, call, stop.signal).finally(() => {
      job.running = null;
    });
    job.running = { ended, stop };
    return ended;
  }

  /** Removes the oldest upload that was never imported, if there are too many. */
  async function makeRoom(): Promise<void> {
    const waiting = [...jobs].filter(([, { state }]) => state === 'uploaded' || state === 'running');
    if (waiting.length < MAX_WAITING) return;
    const oldest = waiting.find(([, { state }]) => state === 'uploaded');
    if (!oldest) {
      throw new ApiError('rate_limited', `${MAX_WAITING} imports are running; wait for one to end`, {
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    await drop(...oldest);
  }

  return {
    /** @throws ApiError `rate_limited` if too many imports are running */
    async upload(file: AsyncIterable<Uint8Array>) {
      await forgetOld();
      await makeRoom();
      const { id, accepted: form } = await files.keep(file, inspectCsv);
      jobs.set(id, newJob(form, clock.now()));
      return { import_id: id, columns: form.columns, sample: form.sample, rows: form.rows };
    },

    /**
     * Changes nothing. @throws ApiError `invalid_request` if the import is finished or its file lacks a mapped column
     */
    async preview(request: RequestOf<typeof licenseTransferAdminContract.previewImport>) {
      const id = request.import_id;
      const found = await find(id);
      const state = 'job' in found ? found.job.state : found.status.state;
      if ('status' in found || state === 'done' || state === 'cancelled')
        throw new ApiError('invalid_request', `import_id: the import is ${state}`);
      refuseUnknownColumns(request, found.job.form.columns);
      const { findings, valid } = await findAll(pass(id, found.job, request), files);
      return {
        rows: found.job.form.rows,
        valid,
        errors: findings.errors,
        error_count: findings.errorCount,
      };
    },

    /** Runs once: a completed import stays unchanged. */
    async run(request: RunRecipe, call: Call): Promise<ImportStatus> {
      const id = request.import_id;
      const found = await find(id);
      if ('status' in found) return found.status;
      const { job } = found;
      if (job.state !== 'done' && job.state !== 'cancelled') await run(id, job, request, call);
      return toStatus(id, job);
    },

    /** @throws ApiError `import_not_found` */
    download({ import_id: id, part }: RequestOf<typeof licenseTransferAdminContract.downloadImportResult>) {
      const lines = files.readResult(id, part);
      if (!lines)
        throw new ApiError('import_not_found', `the import has no ${part} rows, or is over a day old`);
      return new Document(`${CSV}; charset=utf-8`, lines, { fileName: `${part}.csv` });
    },

    async show(id: string): Promise<ImportStatus> {
      const found = await find(id);
      return 'status' in found ? found.status : toStatus(id, found.job);
    },

    async cancel(id: string): Promise<ImportStatus> {
      const found = await find(id);
      if ('status' in found) return found.status;
      const { job } = found;
      job.running?.stop.abort(CANCELLED);
      // The caller that started the import receives its error.
      await job.running?.ended.catch(() => {});
      if (job.state === 'uploaded' || job.state === 'failed') await drop(id, job);
      return toStatus(id, job);
    },

    /** Lets an almost completed import finish, and undoes others but keeps their files. No new import starts. */
    async end(): Promise<void> {
      isEnding = true;
      const running = [...jobs.values()].map((job) => job.running).filter((one) => one !== null);
      const ended = Promise.allSettled(running.map((one) => one.ended));
      const timeout = new AbortController();
      await Promise.race([
        ended,
        delay(STOP_TIMEOUT_MS, undefined, { signal: timeout.signal }).catch(() => {}),
      ]);
      timeout.abort();
      for (const { stop } of running) stop.abort(SERVER_STOPS);
      await ended;
    },
  };
}

export type LicenseImportService = ReturnType<typeof createLicenseImportService>;
