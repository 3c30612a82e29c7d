// The icon beside the clock: how the service is, its address, and the way back to the window.
import { join } from 'node:path';
import { platform } from '@electron-toolkit/utils';
import { Menu, type MenuItemConstructorOptions, nativeImage, Tray } from 'electron';
import type { ServerStatus } from '../server/parent-port.ts';
import { texts } from './texts.ts';

interface TrayActions {
  open(): void;
  copyApiAddress(): void;
  quit(): void;
}

export interface AppTray {
  /** @param status null while the server does not run */
  show(status: ServerStatus | null): void;
}

type Look = 'ok' | 'attention' | 'down';

function lookOf(status: ServerStatus | null): Look {
  if (!status) return 'down';
  return status.health === 'ok' && status.failed_deliveries === 0 ? 'ok' : 'attention';
}

/** macOS draws its icons itself, in the colour of the menu bar, from a shape. */
function icon(look: Look): ReturnType<typeof nativeImage.createFromPath> {
  const name = platform.isMacOS ? 'trayTemplate' : `tray-${look}`;
  return nativeImage.createFromPath(join(import.meta.dirname, '../icons', `${name}.png`));
}

function linesOf(status: ServerStatus | null): string[] {
  const { down, failing, running, failedEvents, endingSoon } = texts();
  if (!status) return [down];
  return [
    status.health === 'ok' ? running : failing,
    ...(status.failed_deliveries > 0 ? [failedEvents(status.failed_deliveries)] : []),
    ...(status.ending_soon > 0 ? [endingSoon(status.ending_soon)] : []),
  ];
}

export function setUpTray({ open, copyApiAddress, quit }: TrayActions): AppTray {
  const tray = new Tray(icon('down'));
  tray.on('click', open);

  function show(status: ServerStatus | null): void {
    const t = texts();
    const lines = linesOf(status);
    const template: MenuItemConstructorOptions[] = [
      ...lines.map((label) => ({ label, enabled: false })),
      { type: 'separator' },
      { id: 'open', label: t.open, click: () => open() },
      { id: 'copy-api-address', label: t.copyApiAddress, click: () => copyApiAddress() },
      { type: 'separator' },
      { id: 'quit', label: t.quit, click: () => quit() },
    ];
    tray.setImage(icon(lookOf(status)));
    tray.setToolTip(`License Desk: ${lines.join(', ')}`);
    tray.setContextMenu(Menu.buildFromTemplate(template));
  }

  show(null);
  return { show };
}
