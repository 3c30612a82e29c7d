// Follows a server that runs as a service of the computer, in place of one that the app starts itself.
import { dialog } from 'electron';
import type { ResidentClient } from './resident-client.ts';
import type { ServerProcess, ServerProcessOptions } from './server-process.ts';
import type { ShellWindow } from './shell-window.ts';
import { texts } from './texts.ts';

const LOOK_EVERY_MS = 5000;
/** Until it is found, as after it was installed, or at login, which starts it at the same time as the app. */
const FIRST_LOOKS_EVERY_MS = 500;
const START_TIMEOUT_MS = 15_000;

interface Needs extends Pick<ServerProcessOptions, 'onReady' | 'onStatus' | 'onDown' | 'onGiveUp'> {
  dataDir: string;
  /** Shows that the service does not run. */
  window: Pick<ShellWindow, 'close'>;
}

const connect = async (dataDir: string) => (await import('./resident-client.ts')).connectToResident(dataDir);

export function setUpResidentServer({ dataDir, ...needs }: Needs): ServerProcess {
  let known: ResidentClient | null = null;
  let lastStatus = '';
  let timer: NodeJS.Timeout | undefined;
  /** Runs from a start until a server is found. */
  let deadline: NodeJS.Timeout | undefined;
  let wasGivenUp = false;
  /** Counts starts and stops: what began before the last one has no effect. */
  let generation = 0;

  async function announce(client: ResidentClient): Promise<void> {
    needs.onReady({ admin: await client.createSignInAddress(), api: client.api });
  }

  async function report(client: ResidentClient): Promise<void> {
    const status = await client.readStatus();
    const text = JSON.stringify(status);
    if (text === lastStatus) return;
    lastStatus = text;
    needs.onStatus(status);
  }

  function lose(): void {
    if (known) needs.onDown();
    known = null;
    lastStatus = '';
  }

  /** The service manager starts a server again that has failed. Its address may be another one then. */
  async function look(own: number): Promise<void> {
    try {
      const found = await connect(dataDir);
      if (own !== generation) return;
      if (!found || (known && known.id !== found.id)) lose();
      if (found) succeed();
      if (found && !known) {
        known = found;
        await announce(found);
      }
      if (found) await report(found);
    } catch {
      if (own === generation) lose();
    }
    const delay = deadline === undefined ? LOOK_EVERY_MS : FIRST_LOOKS_EVERY_MS;
    if (own === generation) timer = setTimeout(() => void look(own), delay);
  }

  /** The service may still start, so looking goes on behind the window that reports it. */
  function giveUp(): void {
    deadline = undefined;
    wasGivenUp = true;
    needs.onGiveUp({ cause: 'service', reason: texts().noService(dataDir), log: '', taken: null });
  }

  function succeed(): void {
    clearTimeout(deadline);
    deadline = undefined;
    if (wasGivenUp) needs.window.close();
    wasGivenUp = false;
  }

  function lookNow(): Promise<void> {
    generation += 1;
    clearTimeout(timer);
    return look(generation);
  }

  return {
    start() {
      wasGivenUp = false;
      clearTimeout(deadline);
      deadline = setTimeout(giveUp, START_TIMEOUT_MS);
      return lookNow();
    },
    restart: () =>
      void dialog.showMessageBox({ type: 'info', message: texts().restartService, noLink: true }),
    requestSignIn: () => void (known && announce(known).catch(lose)),
    wake: () => void lookNow(),
    async stop() {
      generation += 1;
      clearTimeout(timer);
      clearTimeout(deadline);
    },
  };
}
