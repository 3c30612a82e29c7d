// The shell around the page as the page knows it, without Electron: what the app would do is told by the test.
import type { Page } from '@playwright/test';
import type { Bridge, OpenedFile, Preferences } from '../../electron/bridge.ts';

interface FakeShell {
  /** Opened with the app, and not taken yet. */
  opened: OpenedFile[];
  preferences: Preferences;
  /** Names that PDFs were to be saved under. */
  saved: string[];
  /** Secrets that were saved. */
  secrets: { name: string; text: string }[];
  /** Whether the administrator cancels the dialog that asks where to save. */
  isCanceling: boolean;
  /** How often a new link was asked for. */
  signIns: number;
  /** Why it does not do what it is asked for; empty: it does. */
  refusal: string;
  tellOpened(): void;
}

declare global {
  interface Window {
    fakeShell: FakeShell;
  }
}

/** From the next load of the page on. @param opened what waits already when the page is loaded */
export async function addFakeShell(page: Page, opened: readonly OpenedFile[] = []): Promise<void> {
  await page.addInitScript((waiting) => {
    const listeners = new Set<() => void>();
    const shell: FakeShell = {
      opened: [...waiting],
      preferences: {
        start_at_login: false,
        keep_in_tray: true,
        keep_awake: false,
        notifications: true,
        update_address: null,
      },
      saved: [],
      secrets: [],
      isCanceling: false,
      signIns: 0,
      refusal: '',
      tellOpened() {
        for (const listener of listeners) listener();
      },
    };
    async function obey(call: string): Promise<void> {
      // As Electron hands on what the shell throws.
      if (shell.refusal) throw new Error(`Error invoking remote method '${call}': Error: ${shell.refusal}`);
    }
    const bridge: Bridge = {
      appInfo: async () => ({ version: '1.2.3', electron: '45.0.0' }),
      signIn: async () => void (shell.signIns += 1),
      takeOpenedFile: async () => shell.opened.shift() ?? null,
      async savePdf(name) {
        await obey('savePdf');
        shell.saved.push(name);
        return true;
      },
      async saveText(file) {
        await obey('saveText');
        if (!shell.isCanceling) shell.secrets.push(file);
        return !shell.isCanceling;
      },
      async readPreferences() {
        await obey('readPreferences');
        return shell.preferences;
      },
      async changePreferences(change) {
        await obey('changePreferences');
        shell.preferences = { ...shell.preferences, ...change };
        return shell.preferences;
      },
      onFileOpened(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    };
    Object.assign(window, { licenseDesk: bridge, fakeShell: shell });
  }, opened);
}

/** As if somebody opened it with the app just now. */
export async function openWithApp(page: Page, file: OpenedFile): Promise<void> {
  await page.evaluate((given) => {
    window.fakeShell.opened.push(given);
    window.fakeShell.tellOpened();
  }, file);
}

/** @param reason empty: it does what it is asked for again */
export async function refuseInShell(page: Page, reason: string): Promise<void> {
  await page.evaluate((given) => {
    window.fakeShell.refusal = given;
  }, reason);
}
