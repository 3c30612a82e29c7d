// The application menu.
import { platform } from '@electron-toolkit/utils';
import { Menu, type MenuItemConstructorOptions } from 'electron';
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
  const separator: MenuItemConstructorOptions = { type: 'separator' };

  const template: MenuItemConstructorOptions[] = [
    ...(platform.isMacOS
      ? [
          {
            role: 'appMenu' as const,
            submenu: [
              { role: 'about' as const },
              updates,
              separator,
              { role: 'services' as const },
              separator,
              { role: 'hide' as const },
              { role: 'hideOthers' as const },
              { role: 'unhide' as const },
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
        { role: 'close' },
        ...(platform.isMacOS ? [] : [quit]),
      ],
    },
    // macOS needs it for the clipboard's shortcuts.
    { label: t.edit, role: 'editMenu' },
    {
      label: t.view,
      submenu: [
        { role: 'reload' },
        separator,
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        separator,
        { role: 'togglefullscreen' },
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
    { label: t.window, role: 'windowMenu' },
    {
      label: t.help,
      role: 'help',
      submenu: [
        item('api-reference', t.apiReference, actions.openApiReference),
        licenses,
        ...(platform.isMacOS ? [] : [updates, { role: 'about' as const }]),
      ],
    },
  ];
  Menu.setApplicationMenu(Menu.buildFromTemplate(template));
}
