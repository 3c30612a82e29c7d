// The application menu.
import { platform } from '@electron-toolkit/utils';
import { Menu, type MenuItemConstructorOptions } from 'electron';
import { editItems } from './edit-items.ts';
import { texts } from './texts.ts';

export interface AppMenuActions {
  openFile(): void;
  copyApiAddress(): void;
  openApiReference(): void;
  showDataDirectory(): void;
  showLogs(): void;
  writeKeyFile(): void;
  checkForUpdates(): void;
  showThirdPartyLicenses(): void;
  quit(): void;
}

/** Every item has a text of ours: Electron's own are English in every language. */
export function setUpAppMenu(actions: AppMenuActions): void {
  const t = texts();
  const item = (id: string, label: string, click: () => void, accelerator?: string) => ({
    id,
    label,
    click: () => click(),
    ...(accelerator ? { accelerator } : {}),
  });
  const quit = item('quit', t.quit, actions.quit, 'CmdOrCtrl+Q');
  const updates = item('check-for-updates', t.checkForUpdates, actions.checkForUpdates);
  const licenses = item('third-party-licenses', t.thirdPartyLicenses, actions.showThirdPartyLicenses);
  const about: MenuItemConstructorOptions = { label: t.about, role: 'about' };
  const closeWindow: MenuItemConstructorOptions = { label: t.closeWindow, role: 'close' };
  const separator: MenuItemConstructorOptions = { type: 'separator' };

  const template: MenuItemConstructorOptions[] = [
    ...(platform.isMacOS
      ? [
          {
            role: 'appMenu' as const,
            submenu: [
              about,
              updates,
              separator,
              { label: t.services, role: 'services' as const },
              separator,
              { label: t.hide, role: 'hide' as const },
              { label: t.hideOthers, role: 'hideOthers' as const },
              { label: t.showAll, role: 'unhide' as const },
              separator,
              quit,
            ],
          },
        ]
      : []),
    {
      label: t.file,
      submenu: [
        item('open-file', t.openFile, actions.openFile, 'CmdOrCtrl+O'),
        separator,
        closeWindow,
        ...(platform.isMacOS ? [] : [quit]),
      ],
    },
    // macOS needs it for the clipboard's shortcuts.
    { label: t.edit, role: 'editMenu', submenu: editItems() },
    {
      label: t.view,
      submenu: [
        { label: t.reload, role: 'reload' },
        separator,
        { label: t.actualSize, role: 'resetZoom' },
        { label: t.zoomIn, role: 'zoomIn' },
        { label: t.zoomOut, role: 'zoomOut' },
        separator,
        { label: t.fullScreen, role: 'togglefullscreen' },
      ],
    },
    {
      label: t.server,
      submenu: [
        item('copy-api-address', t.copyApiAddress, actions.copyApiAddress),
        separator,
        item('show-data-directory', t.showDataDirectory, actions.showDataDirectory),
        item('show-logs', t.showLogs, actions.showLogs),
        separator,
        item('write-key-file', t.writeKeyFile, actions.writeKeyFile),
      ],
    },
    {
      label: t.window,
      role: 'windowMenu',
      submenu: [
        { label: t.minimize, role: 'minimize' },
        ...(platform.isMacOS
          ? [
              { label: t.zoom, role: 'zoom' as const },
              separator,
              { label: t.bringAllToFront, role: 'front' as const },
            ]
          : [closeWindow]),
      ],
    },
    {
      label: t.help,
      role: 'help',
      submenu: [
        item('api-reference', t.apiReference, actions.openApiReference),
        licenses,
        ...(platform.isMacOS ? [] : [updates, about]),
      ],
    },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}
