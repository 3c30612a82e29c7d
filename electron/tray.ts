// The tray icon: server status, API address, and a way back to the window.
import { join } from 'node:path';
import { platform } from '@electron-toolkit/utils';
import { dialog, Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron';
import type { ServerStatus } from '#server/features/overview/server-status.ts';
import { PREFERENCES_FILE, type PreferenceStore } from './preferences.ts';
import { texts } from './texts.ts';

interface TrayNeeds {
  open(): void;
  copyApiAddress(): void;
  restartServer(): void;
  quit(): void;
  /** Empty while the server does not run. */
  apiAddress(): string;
  preferences: PreferenceStore;
}

export interface AppTray {
  /** @param status null while the server does not run */
  show(status: ServerStatus | null): void;
}

const ICONS = {
  ok: { mac: 'trayTemplate', others: 'tray-ok' },
  attention: { mac: 'trayAttentionTemplate', others: 'tray-attention' },
  down: { mac: 'trayDownTemplate', others: 'tray-down' },
};

function iconOf(status: ServerStatus | null): keyof typeof ICONS {
  if (!status) return 'down';
  return status.health === 'ok' && status.failed_deliveries === 0 ? 'ok' : 'attention';
}

/** macOS draws its icons from a shape, in the color of the menu bar. */
function icon(state: keyof typeof ICONS): ReturnType<typeof nativeImage.createFromPath> {
  const name = platform.isMacOS ? ICONS[state].mac : ICONS[state].others;
  return nativeImage.createFromPath(join(import.meta.dirname, '../icons', `${name}.png`));
}

function linesOf(status: ServerStatus | null): string[] {
  const { down, failing, running, failedDeliveries, expiringSoon } = texts();
  if (!status) return [down];
  return [
    status.health === 'ok' ? running : failing,
    ...(status.failed_deliveries > 0 ? [failedDeliveries(status.failed_deliveries)] : []),
    ...(status.ending_soon > 0 ? [expiringSoon(status.ending_soon)] : []),
  ];
}

const SEPARATOR: MenuItemConstructorOptions = { type: 'separator' };

export function setUpTray(needs: TrayNeeds): AppTray {
  const { preferences } = needs;
  const tray = new Tray(icon('down'));
  // On macOS a click opens the menu.
  if (!platform.isMacOS) tray.on('click', needs.open);
  let shown: ServerStatus | null = null;

  function setNotifications(isOn: boolean): void {
    try {
      preferences.change({ notifications: isOn });
    } catch (error) {
      // The menu shows the change already.
      draw();
      dialog.showErrorBox(texts().cannotSave(PREFERENCES_FILE), (error as Error).message);
    }
  }

  function template(lines: string[]): MenuItemConstructorOptions[] {
    const t = texts();
    const isRunning = shown !== null;
    const address = isRunning ? [{ label: t.apiAddress(needs.apiAddress()), enabled: false }] : [];
    return [
      ...lines.map((label) => ({ label, enabled: false })),
      ...address,
      SEPARATOR,
      { id: 'open', label: t.open, click: () => needs.open() },
      {
        id: 'copy-api-address',
        label: t.copyApiAddress,
        enabled: isRunning,
        click: () => needs.copyApiAddress(),
      },
      {
        id: 'restart-server',
        label: t.restartServer,
        enabled: isRunning,
        click: () => needs.restartServer(),
      },
      SEPARATOR,
      {
        id: 'notifications',
        label: t.notifications,
        type: 'checkbox',
        checked: preferences.read().notifications,
        click: ({ checked }) => setNotifications(checked),
      },
      SEPARATOR,
      { id: 'quit', label: t.quit, click: () => needs.quit() },
    ];
  }

  function draw(): void {
    const lines = linesOf(shown);
    tray.setImage(icon(iconOf(shown)));
    tray.setToolTip(`License Desk: ${lines.join(', ')}`);
    tray.setContextMenu(Menu.buildFromTemplate(template(lines)));
  }

  preferences.onChange(draw);
  draw();
  return {
    show(status) {
      shown = status;
      draw();
    },
  };
}
