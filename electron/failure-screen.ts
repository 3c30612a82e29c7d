// Explains why the server does not start, with advice and its last messages.
import { join } from 'node:path';
import { dialog, shell } from 'electron';
import type { RefusalCause } from '#server/platform/operator-error.ts';
import type { TakenPort } from '#server/process/parent-port.ts';
import { rememberServerHome } from './server-home.ts';
import type { ShellAction, FailureView, ShellAnswer } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';
import type { PortChoice } from './taken-port.ts';
import { texts } from './texts.ts';

/**
 * `key`: the shell cannot open the master key; `crashes`: the server failed again and again without a known cause;
 * `service`: no server runs that the app could connect to.
 */
export type FailureCause = RefusalCause | 'key' | 'crashes' | 'service';

export interface Failure {
  cause: FailureCause;
  reason: string;
  log: string;
  /** The port that the server cannot have, if that is the cause. */
  taken: TakenPort | null;
}

interface Needs {
  window: Pick<ShellWindow, 'ask' | 'close'>;
  dataDir: string;
  ports: PortChoice;
}

/** Loaded only where it is needed: the contract takes its time. */
async function hasResident(dataDir: string): Promise<boolean> {
  const { connectToResident } = await import('./resident-client.ts');
  return (await connectToResident(dataDir)) !== null;
}

/** Where the server could run instead. */
async function otherHomeOf(cause: FailureCause, dataDir: string): Promise<FailureView['actions']> {
  const t = texts();
  if (cause === 'service') return [{ name: 'run_in_app', label: t.runInApp }];
  const canConnect = cause === 'data_directory' && (await hasResident(dataDir));
  return canConnect ? [{ name: 'use_service', label: t.useService }] : [];
}

function portAdvice({ setting, isDenied }: TakenPort): string {
  const t = texts();
  return isDenied ? t.portDeniedAdvice[setting] : t.portAdvice[setting];
}

async function viewOf(failure: Failure, problem: string, { dataDir, ports }: Needs): Promise<FailureView> {
  const t = texts();
  const { cause, taken, log } = failure;
  const freePort = taken ? [{ name: 'free_port', label: t.useFreePort } as const] : [];
  const otherHome = await otherHomeOf(cause, dataDir);
  return {
    kind: 'failure',
    title: t.refused[cause],
    reason: failure.reason,
    advice: taken ? portAdvice(taken) : t.advice[cause],
    // A single line would repeat the reason.
    log: log.includes('\n') ? log : '',
    logTitle: t.log,
    actions: [
      { name: 'try_again', label: t.tryAgain },
      ...freePort,
      ...otherHome,
      { name: 'show_data', label: t.showDataDirectory },
      { name: 'show_logs', label: t.showLogs },
      { name: 'quit', label: t.quit },
    ],
    port: taken && (await ports.form(taken, problem)),
  };
}

const actionOf = (answer: ShellAnswer | null): ShellAction | null =>
  answer?.kind === 'action' ? answer.action : null;

/** @returns whether to try again; otherwise the app quits */
export async function askToTryAgain(failure: Failure, needs: Needs): Promise<boolean> {
  const { window, dataDir, ports } = needs;
  const folders: Partial<Record<ShellAction, string>> = {
    show_data: dataDir,
    show_logs: join(dataDir, 'logs'),
  };
  const { taken } = failure;
  for (let problem = ''; ;) {
    const answer = await window.ask(await viewOf(failure, problem, needs));
    const action = actionOf(answer);
    const folder = action === null ? undefined : folders[action];
    if (folder !== undefined) {
      await shell.openPath(folder);
      continue;
    }
    try {
      if (taken && answer?.kind === 'port') {
        problem = ports.choose(taken, answer.port);
        if (problem !== '') continue;
      }
      if (taken && action === 'free_port') await ports.useFree(taken);
      if (action === 'use_service') rememberServerHome('service');
      if (action === 'run_in_app') rememberServerHome('app');
    } catch (error) {
      // The choice could not be stored, as on a full disk.
      dialog.showErrorBox(texts().refused.data_directory, (error as Error).message);
      continue;
    }
    window.close();
    return answer?.kind === 'port' || (action !== null && action !== 'quit');
  }
}
