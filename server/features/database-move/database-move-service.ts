// Moves the database of this server while it runs, for the command `move-database`.
import type { MoveProgress, OnProgress } from '#server/database/move/move-progress.ts';
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import type { Call } from '#server/platform/call.ts';
import type { Logger } from '#server/platform/logger.ts';
import { OperatorError } from '#server/platform/operator-error.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { databaseMoveAdminContract } from './database-move-contract.ts';

type Report = ReplyOf<typeof databaseMoveAdminContract.moveDatabase>['moved'];

export interface MoveHooks {
  onProgress: OnProgress;
  check(): void;
  refuseChanges(): void;
}

interface Needs {
  /** @returns once the settings name the new database, and the old one is locked until this process ends */
  move(
    request: RequestOf<typeof databaseMoveAdminContract.moveDatabase>,
    userName: string,
    hooks: MoveHooks,
  ): Promise<Report>;
  guard: Pick<ControlledGuard, 'stopWrites' | 'resumeWrites'>;
  alerts: Pick<AlertBoard, 'raise'>;
  /** Ends the process so that its supervisor restarts it; null without a supervisor. */
  restart: (() => void) | null;
  logger: Logger;
}

/** @throws ApiError; the message omits the URL, which may contain a password */
function requireUrl(url: string | null): void {
  const { allowed, parse } = SETTINGS.databaseUrl;
  if (url !== null && !parse(url)) throw new ApiError('invalid_request', `url must be ${allowed}`);
}

export function createDatabaseMoveService({ move, guard, alerts, restart, logger }: Needs) {
  let progress: MoveProgress | null = null;
  let isMoving = false;

  /** @throws ApiError unless the local command is calling, and nothing has been moved yet */
  function begin({ actor }: Call): void {
    // It decides where all data goes. A page must not be able to send it elsewhere.
    if (actor.kind !== 'cli')
      throw new ApiError('forbidden', 'only `license-desk move-database` may do this');
    if (isMoving) throw new ApiError('invalid_request', 'a move of the database is in progress or complete');
    isMoving = true;
  }

  return {
    async move(request: RequestOf<typeof databaseMoveAdminContract.moveDatabase>, call: Call) {
      requireUrl(request.url);
      begin(call);
      logger.info('a move of the database has begun');
      try {
        const moved = await move(request, call.actor.name, {
          onProgress: (step) => (progress = step),
          check() {
            if (call.isGone())
              throw new ApiError('invalid_request', 'the command that asked for the move has ended');
          },
          refuseChanges() {
            guard.stopWrites('moving');
            logger.info('changes are refused until the database is moved');
          },
        });
        guard.stopWrites('moved');
        guard.resumeWrites('moving');
        const { from, to, seconds } = moved;
        alerts.raise('database_moved', { params: { to } });
        logger.warn({ from, to, seconds }, 'the database is moved: changes are refused until the next start');
        // The reply goes first.
        if (restart) setImmediate(restart);
        return { moved, restarting: restart !== null };
      } catch (error) {
        guard.resumeWrites('moving');
        isMoving = false;
        progress = null;
        logger.warn({ err: error as Error }, 'the move of the database has failed; nothing has changed');
        throw error instanceof OperatorError ? new ApiError(error.code, error.message) : error;
      }
    },
    show: () => ({ progress }),
  };
}

export type DatabaseMoveService = ReturnType<typeof createDatabaseMoveService>;
