// Imports files of licenses: uploaded once, previewed any number of times, then imported completely or not at all.
import { setTimeout as delay } from 'node:timers/promises';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Call } from '#server/platform/call.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { Document } from '#server/platform/document.ts';
import { ApiError } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { checkImport, type CheckNeeds } from './import-check.ts';
import { encodingName } from './csv-encoding.ts';
import type { ImportFiles } from './import-files.ts';
import {
  addFindings,
  doneStatus,
  type ImportJob,
  inspectCsv,
  isIdle,
  newJob,
  noFindings,
  toStatus,
} from './import-job.ts';
import { ChangedSinceCheckedError, findAll, type ImportPass, refuseUnknownColumns } from './import-pass.ts';
import { createImportRun, type ImportRunNeeds } from './import-run.ts';
import {
  CSV,
  JSON_LINES,
  type ImportStatus,
  type licenseTransferAdminContract,
} from './license-transfer-contract.ts';

interface Needs extends Omit<CheckNeeds, 'findTakenKeys'>, ImportRunNeeds {
  licenses: Pick<LicenseStore, 'findTakenKeys' | 'insertAll'>;
  files: ImportFiles;
  /** In a transaction: keeps the plan from changing until it ends. */
  findPlanToUse: CheckNeeds['findPlan'];
}

type Recipe = RequestOf<typeof licenseTransferAdminContract.previewImport>;
type RunRecipe = RequestOf<typeof licenseTransferAdminContract.runImport>;

/** A stopping server has five seconds in total. */
const STOP_TIMEOUT_MS = 1000;
/** Limited because the files take disk space in the data directory. */
const MAX_WAITING = 20;
const RETRY_AFTER_SECONDS = 60;
const CANCELLED = new Error('the import was canceled');
const SERVER_STOPS = new Error('the server is stopping');

export function createLicenseImportService(needs: Needs) {
  const { licenses, imports, files, clock } = needs;
  const forCheck: CheckNeeds = { ...needs, findTakenKeys: licenses.findTakenKeys };
  const forImport: CheckNeeds = { ...forCheck, findPlan: needs.findPlanToUse };
  const issueLicenses = createImportRun(needs);
  const jobs = new Map<string, ImportJob>();
  let isEnding = false;

  async function forgetOld(): Promise<void> {
    const now = clock.now();
    for (const [id, job] of jobs) if (!job.running && now - job.createdAt > DAY_MS) jobs.delete(id);
    await files.removeForgotten();
  }

  /**
   * @returns only the status, if the import was completed before this process started, or the answer to its commit was
   *   lost @throws ApiError `import_not_found`
   */
  async function find(id: string): Promise<{ job: ImportJob } | { status: ImportStatus }> {
    const known = jobs.get(id);
    if (known && !isIdle(known)) return { job: known };
    const done = await imports.findDone(id);
    // A concurrent call may have run it.
    const job = jobs.get(id);
    if (job && !isIdle(job)) return { job };
    if (done !== null) return { status: doneStatus(id, done) };
    if (!files.has(id)) {
      jobs.delete(id);
      throw new ApiError('import_not_found', 'import not found; upload the file again');
    }
    if (job) return { job };
    const form = await inspectCsv(files.pathOf(id));
    // A concurrent call may have created the job first.
    const found = jobs.get(id) ?? newJob(form, clock.now());
    jobs.set(id, found);
    return { job: found };
  }

  const pass = (id: string, { form }: ImportJob, recipe: Recipe, reads = forCheck): ImportPass => ({
    id,
    columns: form.columns,
    batches: checkImport(reads, { ...form, path: files.pathOf(id) }, recipe, clock.now()),
  });

  async function work(id: string, job: ImportJob, recipe: RunRecipe, call: Call, signal: AbortSignal) {
    try {
      await files.touch(id);
      // Checks before the transaction, which blocks other writers.
      const { findings, valid } = await findAll(pass(id, job, recipe), files, { signal });
      job.findings = findings;
      const faulty = job.form.rows - valid;
      if (faulty !== recipe.skip_rows || valid === 0) {
        job.state = 'failed';
        return;
      }
      const newPass = () => pass(id, job, recipe, forImport);
      await issueLicenses({ id, job, skipRows: faulty, newPass, call, signal });
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
      throw new ApiError('overloaded', `${MAX_WAITING} imports are running; wait for one to end`, {
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    await drop(...oldest);
  }

  return {
    /** @throws ApiError `overloaded` if too many imports are running */
    async upload(file: AsyncIterable<Uint8Array>) {
      await forgetOld();
      await makeRoom();
      const { id, accepted: form } = await files.keep(file, inspectCsv);
      jobs.set(id, newJob(form, clock.now()));
      const { columns, sample, rows, encoding } = form;
      return { import_id: id, columns, sample, rows, encoding: encodingName(encoding) };
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
      const { job } = found;
      const { columns, rows, encoding } = job.form;
      refuseUnknownColumns(request, columns);
      // It may be imported meanwhile, which leaves other results.
      const isCurrent = () => isIdle(job);
      const { findings, valid } = await findAll(pass(id, job, request), files, { isCurrent });
      return {
        rows,
        valid,
        encoding: encodingName(encoding),
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
    download(request: RequestOf<typeof licenseTransferAdminContract.downloadImportResult>) {
      const { import_id: id, part, form, ...style } = request;
      const isCsv = form === 'csv';
      const lines = files.readResult(id, part, isCsv ? style : form);
      if (!lines)
        throw new ApiError('import_not_found', `the import has no ${part} rows, or is over a day old`);
      return isCsv
        ? new Document(`${CSV}; charset=utf-8`, lines, { fileName: `${part}.csv` })
        : new Document(JSON_LINES, lines, { fileName: `${part}.jsonl` });
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
      if (isIdle(job)) await drop(id, job);
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
