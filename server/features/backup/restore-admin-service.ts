// Restores from the back office. A preview is unpacked beside the data; confirming it leaves everything in place until
// the server starts again.
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { afterCommit } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { type Call, directCall } from '#server/platform/call.ts';
import type { Logger } from '#server/platform/logger.ts';
import { isOutOfSpace } from '#server/platform/database-fault.ts';
import { OperatorError } from '#server/platform/operator-error.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { HOUR_MS } from '#server/wire/instants.ts';
import {
  committedRestore,
  readCanceledRestore,
  readLastRestore,
  withdrawRestore,
  writeCanceledRestore,
} from './data-files.ts';
import {
  MAX_PREVIEWED,
  type restoreAdminContract,
  type RestoreOverview,
  type ShownPreview,
} from './restore-contract.ts';
import type { Listed, RestorePreview } from './restore-preview.ts';
import type { PendingRestore } from './restore-service.ts';
import type { RestoreSources } from './restore-sources.ts';
import type { RestoreRequest } from './restore-unpacking.ts';

interface Needs {
  dataDir: string;
  folder: string | null;
  restores: { open(request: RestoreRequest, call: Call): Promise<PendingRestore>; cancel(): void };
  sources: RestoreSources;
  audit: Audit;
  transaction: RunTransaction;
  logger: Logger;
  /** Ends the process so that its supervisor restarts it; null without a supervisor. */
  restart: (() => void) | null;
  onChanged(): void;
}

const RESTARTING_ADVICE = 'The server restarts and puts the backup in place.';
const MANUAL_RESTART_ADVICE =
  'Stop the server where it was started, then start it again. Its start puts the backup in place. Changes made until then are only in the previous data, which is kept. Changes to certificates and signing keys are carried over.';

const short = <Item>({ count, items }: Listed<Item>): Listed<Item> => ({
  count,
  items: items.slice(0, MAX_PREVIEWED),
});

function shown(preview: RestorePreview): ShownPreview {
  const { present } = preview;
  return {
    ...preview,
    api_tokens: short(preview.api_tokens),
    webhooks: short(preview.webhooks),
    present: present && {
      ...present,
      revived: {
        licenses: short(present.revived.licenses),
        authorization_tokens: short(present.revived.authorization_tokens),
        api_tokens: short(present.revived.api_tokens),
        certificates: short(present.revived.certificates),
        webhooks: short(present.revived.webhooks),
        signing_keys: short(present.revived.signing_keys),
      },
      newer_certificates: {
        kept: present.newer_certificates.kept,
        revoked: short(present.newer_certificates.revoked),
        irrevocable: short(present.newer_certificates.irrevocable),
      },
    },
  };
}

/** It can be confirmed again once the reason is gone. */
function refusalOf(error: Error): Error {
  if (error instanceof OperatorError) return new ApiError(error.code, error.message);
  if (!isOutOfSpace(error)) return error;
  return new ApiError(
    'unavailable',
    'the disk of the data directory is full; nothing has changed; free some space, then confirm the restore again',
  );
}

export function createRestoreAdminService(needs: Needs) {
  const { dataDir, restores, sources, audit, transaction, restart } = needs;
  let open: { id: string; pending: PendingRestore; source: string } | null = null;
  let isBusy = false;
  let forgetting: NodeJS.Timeout | undefined;

  /** Uploads and previews are large, and contain secrets. */
  function forgetLater(): void {
    clearTimeout(forgetting);
    forgetting = setTimeout(() => void alone(forget).catch(() => {}), HOUR_MS).unref();
  }

  async function forget(): Promise<void> {
    clearTimeout(forgetting);
    open = null;
    restores.cancel();
    await sources.removeUpload();
  }

  /** One at a time, because there is one place to unpack to. */
  async function alone<Result>(work: () => Promise<Result>): Promise<Result> {
    if (isBusy)
      throw new ApiError('unavailable', 'another restore is being prepared; try again when it is done');
    isBusy = true;
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  }

  function refuseStaged(): void {
    if (committedRestore(dataDir) === null) return;
    throw new ApiError(
      'invalid_request',
      'a confirmed restore is waiting for a restart of the server; cancel it first',
    );
  }

  function lastRestore(): RestoreOverview['last'] {
    const last = readLastRestore(dataDir);
    if (last === null) return null;
    const isKept = last.before !== null && existsSync(join(dataDir, last.before));
    return { ...last, before: isKept ? last.before : null };
  }

  function canceledRestore(): RestoreOverview['canceled'] {
    const found = readCanceledRestore(dataDir);
    if (found === null) return null;
    const { recorded: _, ...canceled } = found;
    return canceled;
  }

  return {
    /** Reports a confirmed restore that an earlier start has canceled. */
    async reportCanceled(): Promise<void> {
      const canceled = readCanceledRestore(dataDir);
      if (canceled === null || canceled.recorded) return;
      const { source, reason } = canceled;
      needs.logger.warn({ source, reason }, 'a confirmed restore was canceled, and nothing has changed');
      const call = directCall({ kind: 'system', name: 'restore' });
      await transaction(() =>
        audit.record(call, 'backup.restore_cancelled', 'backup', null, { source, reason }),
      );
      writeCanceledRestore(dataDir, { ...canceled, recorded: true });
    },

    async show(): Promise<RestoreOverview> {
      return {
        folder: needs.folder,
        ...(await sources.listFolder()),
        upload: await sources.showUpload(),
        before: await sources.listBefore(),
        staged: committedRestore(dataDir)?.about ?? null,
        last: lastRestore(),
        canceled: canceledRestore(),
        restart: restart !== null,
      };
    },

    async upload(file: AsyncIterable<Uint8Array>) {
      const kept = await sources.keepUpload(file);
      forgetLater();
      return kept;
    },

    preview(
      {
        kind,
        name,
        passphrase,
        accept_unsigned,
        upload_id: uploadId,
      }: RequestOf<typeof restoreAdminContract.previewRestore>,
      call: Call,
    ) {
      const refuseReplaced = () => {
        if (kind === 'upload' && uploadId !== undefined) sources.refuseReplaced(uploadId);
      };
      return alone(async () => {
        refuseStaged();
        refuseReplaced();
        const found = await sources.find(kind, name);
        open = null;
        try {
          const request = { ...found, passphrase: passphrase || null, acceptUnsigned: accept_unsigned };
          const pending = await restores.open(request, call);
          // Another upload may have taken its place just before it was opened.
          refuseReplaced();
          open = { id: randomUUID(), pending, source: found.name };
          forgetLater();
          return { restore_id: open.id, preview: shown(pending.preview) };
        } catch (error) {
          restores.cancel();
          if (!(error instanceof OperatorError)) throw error;
          // The path of an upload means nothing to the administrator.
          throw new ApiError('invalid_request', error.message.replace(found.file, found.name));
        }
      });
    },

    confirm({ restore_id: id }: RequestOf<typeof restoreAdminContract.confirmRestore>, call: Call) {
      return alone(async (): Promise<ReplyOf<typeof restoreAdminContract.confirmRestore>> => {
        if (open?.id !== id)
          throw new ApiError(
            'not_found',
            'this preview has expired or was replaced; preview the backup again',
          );
        const { pending, source } = open;
        const { created_at, version, authenticated } = pending.preview;
        await transaction(() =>
          audit.record(call, 'backup.restore_confirmed', 'backup', null, {
            source,
            created_at,
            version,
            authenticated,
          }),
        );
        await pending.commit().catch(async (error: Error) => {
          const { message: reason } = error;
          await transaction(() =>
            audit.record(call, 'backup.restore_cancelled', 'backup', null, { source, reason }),
          ).catch(() => {});
          throw refusalOf(error);
        });
        open = null;
        await forget();
        needs.onChanged();
        // After the reply, as the restart from the settings.
        if (restart) await transaction(async () => afterCommit(restart));
        return {
          restarting: restart !== null,
          restart_advice: restart ? RESTARTING_ADVICE : MANUAL_RESTART_ADVICE,
        };
      });
    },

    cancel({ restore_id: id }: RequestOf<typeof restoreAdminContract.cancelRestore>, call: Call) {
      return alone(async () => {
        // What another administrator has previewed or confirmed since then stays.
        if (id !== undefined && open?.id !== id) return {};
        const staged = committedRestore(dataDir);
        withdrawRestore(dataDir);
        await forget();
        if (staged)
          await transaction(() =>
            audit.record(call, 'backup.restore_cancelled', 'backup', null, {
              source: staged.about?.source ?? null,
            }),
          );
        needs.onChanged();
        return {};
      });
    },

    /** Drops what was not confirmed. */
    async close(): Promise<void> {
      await alone(forget).catch(() => {});
    },
  };
}

export type RestoreAdminService = ReturnType<typeof createRestoreAdminService>;
