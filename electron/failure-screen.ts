// Explains why the server does not start, with advice and its last messages.
import { join } from 'node:path';
import { shell } from 'electron';
import type { RefusalCause, TakenPort } from '#server/process/parent-port.ts';
import type { FailureAction, FailureView, ShellAnswer } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';
import type { PortChoice } from './taken-port.ts';
import { texts } from './texts.ts';

/** `key`: the shell cannot open the master key. `crashes`: the server failed repeatedly without a known cause. */
export type FailureCause = RefusalCause | 'key' | 'crashes';

export interface Failure {
  cause: FailureCause;
  reason: string;
  log: string;
  /** The port that another program uses, if that is the cause. */
  taken: TakenPort | null;
}

interface Needs {
  window: Pick<ShellWindow, 'ask' | 'close'>;
  dataDir: string;
  ports: PortChoice;
}

async function viewOf(failure: Failure, problem: string, ports: PortChoice): Promise<FailureView> {
  const t = texts();
  const { cause, taken, log } = failure;
  const freePort = taken ? [{ name: 'free_port', label: t.useFreePort } as const] : [];
  return {
    kind: 'failure',
    title: t.refused[cause],
    reason: failure.reason,
    advice: taken ? t.portAdvice[taken.setting] : t.advice[cause],
    // A single line would repeat the reason.
    log: log.includes('\n') ? log : '',
    logTitle: t.log,
    actions: [
      { name: 'try_again', label: t.tryAgain },
      ...freePort,
      { name: 'show_data', label: t.showDataDirectory },
      { name: 'show_logs', label: t.showLogs },
      { name: 'quit', label: t.quit },
    ],
    port: taken && (await ports.form(taken, problem)),
  };
}

const actionOf = (answer: ShellAnswer | null): FailureAction | null =>
  answer?.kind === 'failure' ? answer.action : null;

/** @returns whether to try again; otherwise the app quits */
export async function askToTryAgain(failure: Failure, { window, dataDir, ports }: Needs): Promise<boolean> {
  const folders: Partial<Record<FailureAction, string>> = {
    show_data: dataDir,
    show_logs: join(dataDir, 'logs'),
  };
  const { taken } = failure;
  for (let problem = ''; ;) {
    const answer = await window.ask(await viewOf(failure, problem, ports));
    const action = actionOf(answer);
    const folder = action === null ? undefined : folders[action];
    if (folder !== undefined) {
      await shell.openPath(folder);
      continue;
    }
    if (taken && answer?.kind === 'port') {
      problem = ports.choose(taken, answer.port);
      if (problem !== '') continue;
    }
    if (taken && action === 'free_port') await ports.useFree(taken);
    window.close();
    return action === 'try_again' || action === 'free_port' || answer?.kind === 'port';
  }
}
