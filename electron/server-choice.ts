// Asks once, before a new data directory is used, where its server runs.
import { app } from 'electron';
import { isUsedByApp } from '#server/installation/used-directory.ts';
import { rememberServerHome, readServerHome, type ServerHome } from './server-home.ts';
import { findServerPackage, installService } from './server-package.ts';
import type { ChoiceView } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';
import { texts } from './texts.ts';

interface Needs {
  dataDir: string;
  window: Pick<ShellWindow, 'ask' | 'show' | 'close'>;
  startsHidden: boolean;
}

function viewOf(problem: string, dataDir: string): ChoiceView {
  const t = texts();
  return {
    kind: 'choice',
    title: t.homeTitle,
    problem,
    options: [
      { home: 'app', label: t.homeApp, why: t.homeAppWhy },
      { home: 'service', label: t.homeService, why: t.homeServiceWhy },
    ],
    note: findServerPackage() === null ? t.homeNeedsPackage(dataDir) : '',
    isBusy: false,
  };
}

/** @returns null if the window was closed instead */
export async function chooseServerHome({ dataDir, window, startsHidden }: Needs): Promise<ServerHome | null> {
  const chosen = readServerHome();
  if (chosen !== null) return chosen;
  // A start from a checkout, at login or with existing data is not the first start of an installed app.
  if (!app.isPackaged || startsHidden || isUsedByApp(dataDir)) return 'app';
  for (let problem = ''; ;) {
    const view = viewOf(problem, dataDir);
    const answer = await window.ask(view);
    if (answer?.kind !== 'home') return null;
    try {
      const folder = findServerPackage();
      if (answer.home === 'service' && folder !== null) {
        window.show({ ...view, isBusy: true });
        await installService(folder, dataDir);
      }
      rememberServerHome(answer.home);
      window.close();
      return answer.home;
    } catch (error) {
      problem = (error as Error).message;
    }
  }
}
