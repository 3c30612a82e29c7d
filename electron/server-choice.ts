// Asks once, before a new data directory is used, where its server runs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { app } from 'electron';
import { MASTER_KEY_FILE, SEALED_KEY_FILE } from '#server/platform/master-key.ts';
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

const USED_FILES = [MASTER_KEY_FILE, SEALED_KEY_FILE, 'installation.json', 'config.json', 'license-desk.db'];

/** Also of one that cannot be read, which is then reported. */
const isUsed = (dataDir: string) => USED_FILES.some((file) => existsSync(join(dataDir, file)));

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
  if (!app.isPackaged || startsHidden || isUsed(dataDir)) return 'app';
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
