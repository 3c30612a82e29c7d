// Follows a server that runs as a service of the computer, in place of one that the app starts itself.
import { dialog } from 'electron';
import type { ResidentClient } from './resident-client.ts';
import type { ServerProcess, ServerProcessOptions } from './server-process.ts';
import { texts } from './texts.ts';

const LOOK_EVERY_MS = 5000;

type Needs = Pick<ServerProcessOptions, 'onReady' | 'onStatus' | 'onDown' | 'onGiveUp'> & { dataDir: string };

const connect = async (dataDir: string) => (await import('./resident-client.ts')).connectToResident(dataDir);

export function setUpResidentServer({ dataDir, ...needs }: Needs): ServerProcess {
  let known: ResidentClient | null = null;
  let lastStatus = '';
  let timer: NodeJS.Timeout | undefined;
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
      if (found && !known) {
        known = found;
        await announce(found);
      }
      if (found) await report(found);
    } catch {
      if (own === generation) lose();
    }
    if (own === generation) timer = setTimeout(() => void look(own), LOOK_EVERY_MS);
  }

  function end(): void {
    generation += 1;
    clearTimeout(timer);
  }

  return {
    async start() {
      end();
      const own = generation;
      const found = await connect(dataDir);
      if (own !== generation) return;
      if (found) await look(own);
      else {
        const reason = texts().noService(dataDir);
        needs.onGiveUp({ cause: 'service', reason, log: '', taken: null });
      }
    },
    restart: () =>
      void dialog.showMessageBox({ type: 'info', message: texts().restartService, noLink: true }),
    requestSignIn: () => void (known && announce(known).catch(lose)),
    wake() {
      end();
      void look(generation);
    },
    stop: async () => end(),
  };
}
