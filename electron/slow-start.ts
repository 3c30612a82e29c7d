// Reports that the server is still starting. The server delivers the page, so the shell reports it in its own window.
import { join } from 'node:path';
import { shell } from 'electron';
import type { WaitingView } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';
import { texts } from './texts.ts';

const SLOW_AFTER_MS = 15_000;

export interface SlowStart {
  /** A start has begun. @param log what the server has written so far */
  begin(log: () => string): void;
  /** The server is ready for the first time. Later, the page itself says whether it answers. */
  ready(): void;
  /** The start has failed. */
  fail(): void;
  /** The user wants to see the app. */
  show(): void;
}

interface Needs {
  window: Pick<ShellWindow, 'ask' | 'close'>;
  dataDir: string;
  startsHidden: boolean;
  quit(): void;
}

function viewOf(log: string): WaitingView {
  const t = texts();
  return {
    kind: 'waiting',
    title: t.slowStart,
    reason: t.slowStartReason,
    advice: t.slowStartAdvice,
    log,
    logTitle: t.log,
    actions: [
      { name: 'show_logs', label: t.showLogs },
      { name: 'quit', label: t.quit },
    ],
  };
}

export function setUpSlowStart({ window, dataDir, startsHidden, quit }: Needs): SlowStart {
  let isWanted = !startsHidden;
  let isOver = false;
  let isShown = false;
  let timer: NodeJS.Timeout | undefined;
  /** Set once the start is slow. */
  let slowLog: (() => string) | null = null;

  /** Open until it is answered, or the server is ready. */
  async function open(log: () => string): Promise<void> {
    isShown = true;
    const answer = await window.ask(viewOf(log()));
    const action = answer?.kind === 'action' ? answer.action : null;
    if (action === 'show_logs') {
      await shell.openPath(join(dataDir, 'logs'));
      if (slowLog) return open(slowLog);
    }
    isShown = false;
    if (action === 'quit') quit();
  }

  function end(): void {
    clearTimeout(timer);
    slowLog = null;
    if (isShown) window.close();
    isShown = false;
  }

  return {
    begin(log) {
      if (isOver) return;
      // The start before may have ended by a crash.
      clearTimeout(timer);
      timer = setTimeout(() => {
        slowLog = log;
        if (isWanted) void open(log);
      }, SLOW_AFTER_MS);
    },
    ready() {
      isOver = true;
      end();
    },
    fail: end,
    show() {
      isWanted = true;
      if (slowLog) void open(slowLog);
    },
  };
}
