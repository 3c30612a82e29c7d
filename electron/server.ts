// The server, wherever it runs: started by the app, or followed as a service.
import { chooseServerHome } from './server-choice.ts';
import { setUpResidentServer } from './resident-server.ts';
import { type ServerProcess, type ServerProcessOptions, setUpServerProcess } from './server-process.ts';
import type { ShellWindow } from './shell-window.ts';

interface Needs extends ServerProcessOptions {
  dataDir: string;
  window: Pick<ShellWindow, 'ask' | 'show' | 'close'>;
  startsHidden: boolean;
  /** The question where it runs was not answered. */
  onNoChoice(): void;
}

export function setUpServer(needs: Needs): ServerProcess {
  const own = setUpServerProcess(needs);
  const resident = setUpResidentServer(needs);
  let active = own;
  return {
    async start() {
      const home = await chooseServerHome(needs);
      if (home === null) return needs.onNoChoice();
      const next = home === 'service' ? resident : own;
      if (next !== active) await active.stop();
      active = next;
      await active.start();
    },
    restart: () => active.restart(),
    requestSignIn: () => active.requestSignIn(),
    wake: () => active.wake(),
    stop: () => active.stop(),
  };
}
