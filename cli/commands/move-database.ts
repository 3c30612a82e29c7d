import { resolve } from 'node:path';
import type { Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import type { MoveProgress, OnProgress } from '#server/database/move/move-progress.ts';
import type { MoveReport, MoveTarget } from '#server/wiring/move-steps.ts';
import { readDatabaseUrl } from '#server/platform/database-url.ts';
import { holdsPassword } from '#server/platform/mask-passwords.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import { printing, withService } from '../command-action.ts';
import { usageFailure } from '../command-failure.ts';
import { commandIo } from '../command-io.ts';
import { requireDataDirectory } from '../data-directory.ts';
import { configOf } from '../setting-options.ts';
import { block } from '../text-layout.ts';

interface MoveOptions {
  to?: string;
  toFile?: string;
}

const TO_ENV = 'LICENSE_DESK_MOVE_TO';
const SQLITE = 'sqlite';
const PROGRESS_MS = 500;

export function addMoveDatabase(program: Command): void {
  program
    .command('move-database')
    .description(
      'move all data from SQLite to PostgreSQL or back, and change the settings; a running server keeps serving',
    )
    .option(
      '--to <database>',
      `URL of an empty PostgreSQL database, without a password, or sqlite (${TO_ENV})`,
    )
    .option('--to-file <file>', 'file that holds the URL with its password; the settings will name this file')
    .action(
      printing(async (options: MoveOptions, command: Command) => {
        const config = configOf(command);
        const target = targetOf(options);
        requireDataDirectory(config.dataDir);
        const progress = showProgress();
        try {
          const { moveDatabase } = await import('#server/wiring/compose-move.ts');
          const moved = await moveDatabase(config, target, osUserName(), progress.show);
          return { reply: { moved }, text: movedText(moved, 'start') };
        } catch (error) {
          if (!(await isServerRunning(config.dataDir, error))) throw error;
          const { moved, restarting } = await moveThroughServer(command, target, progress.show);
          return { reply: { moved }, text: movedText(moved, restarting ? 'restarting' : 'restart') };
        } finally {
          progress.clear();
        }
      }),
    );
}

/** @param error of a move without a server */
async function isServerRunning(dataDir: string, error: unknown): Promise<boolean> {
  const { DataDirectoryError } = await import('#server/installation/data-directory.ts');
  const { readRuntimeFile } = await import('#server/installation/runtime-file.ts');
  return error instanceof DataDirectoryError && readRuntimeFile(dataDir) !== null;
}

/** The server that uses the data directory moves the data itself. It gives up if this command ends. */
function moveThroughServer(command: Command, target: MoveTarget, show: OnProgress) {
  return withService(command, async (client) => {
    const moving = client.moveDatabase({ url: target.url, file: target.url === null ? null : target.file });
    const isOver = moving.then(
      () => true,
      () => true,
    );
    while (!(await Promise.race([isOver, delay(PROGRESS_MS, false)]))) {
      // The outcome is that of the other call.
      const { progress } = await client.showDatabaseMove({}).catch(() => ({ progress: null }));
      if (progress) show(progress);
    }
    return moving;
  });
}

/** @throws CommandFailure or ConfigError; the message does not contain the URL, which may have a password */
function targetOf({ to: flag, toFile }: MoveOptions): MoveTarget {
  if (flag !== undefined && toFile !== undefined) throw usageFailure('--to and --to-file cannot be combined');
  if (toFile !== undefined) {
    const file = resolve(toFile);
    const url = readDatabaseUrl({ databaseUrl: null, databaseUrlFile: file });
    if (url === null) throw usageFailure(`--to-file must contain ${SETTINGS.databaseUrl.allowed}`);
    return { url, file };
  }
  const to = flag ?? commandIo().env[TO_ENV];
  if (to === undefined || to === '')
    throw usageFailure(`--to <database>, --to-file <file> or ${TO_ENV} is required`);
  if (to === SQLITE) return { url: null };
  if (flag !== undefined && holdsPassword(flag)) {
    throw usageFailure(
      `--to contains a password, which every user of this machine can see in the process list; use --to-file or ${TO_ENV}`,
    );
  }
  const url = SETTINGS.databaseUrl.parse(to);
  if (!url)
    throw usageFailure(
      `${flag === undefined ? TO_ENV : '--to'} must be sqlite or ${SETTINGS.databaseUrl.allowed}`,
    );
  return { url, file: null };
}

const STEPS: Readonly<Record<MoveProgress['step'], string>> = {
  copy: 'Copying',
  index: 'Building indices',
  verify: 'Comparing tables',
};

/** One line on a terminal, which each step overwrites. */
function showProgress() {
  const { stderr } = commandIo();
  const write = (line: string) => {
    if (stderr.isTTY === true) stderr.write(`\r\u001B[K${line}`);
  };
  return {
    show({ step, table, done, total }: MoveProgress): void {
      const what = step === 'copy' ? ` ${table}` : '';
      write(`${STEPS[step]}${what}: ${total === null ? done : `${done} of ${total}`}`);
    },
    clear: () => write(''),
  };
}

const NEXT = {
  start: 'The settings name the new database. Start the server.',
  restart:
    'The settings name the new database. Restart the server now: until then it refuses changes, and answers everything else.',
  restarting: 'The settings name the new database. The server restarts.',
} as const;

function movedText(
  { from, to, rows, tables, seconds, before, remove }: MoveReport,
  server: keyof typeof NEXT,
): string {
  const facts = block([
    ['From', from],
    ['To', to],
    ['Rows', `${rows} in ${tables.length} tables`],
    [server === 'start' ? 'Took' : 'Changes refused for', `${seconds.toFixed(1)} s`],
  ]);
  const next =
    remove.length === 0
      ? NEXT[server]
      : `Remove ${remove.join(' and ')}, which names PostgreSQL, then start the server. A start with it returns to PostgreSQL, and the copy is discarded.`;
  return [
    facts,
    'The copy has been compared with its source: row counts and SHA-256 of every table are equal.',
    next,
    ...(before === null
      ? []
      : [
          `The previous data is ${server === 'start' ? 'in' : 'moved at the next start to'} ${before}. Delete it when you no longer need it.`,
        ]),
  ].join('\n\n');
}
