// Starting with the session of the user, without a window: the service is wanted, its page when asked for.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { electronApp, platform } from '@electron-toolkit/utils';
import { app } from 'electron';

/** Leaves the window closed; the tray and a second start open it. */
export const HIDDEN_FLAG = '--hidden';

/** Where sessions on Linux look (XDG autostart specification). */
function autostartFile(): string {
  const config = process.env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config');
  return join(config, 'autostart', 'license-desk.desktop');
}

/** An argument of `Exec=` in quotes (desktop entry specification). */
const quoted = (text: string) => `"${text.replaceAll(/["`$\\]/gu, String.raw`\$&`)}"`;

/** What starts this app again: an AppImage runs from a place that is gone afterwards. */
function ownCommand(): string[] {
  const program = process.env['APPIMAGE'] ?? process.execPath;
  return app.isPackaged ? [program] : [program, app.getAppPath()];
}

/** @throws what the file system throws */
export function setStartAtLogin(isWanted: boolean): void {
  if (platform.isMacOS) {
    electronApp.setAutoLaunch(isWanted);
  } else if (platform.isWindows) {
    app.setLoginItemSettings({ openAtLogin: isWanted, args: [HIDDEN_FLAG] });
  } else if (isWanted) {
    const file = autostartFile();
    mkdirSync(join(file, '..'), { recursive: true });
    const command = [...ownCommand(), HIDDEN_FLAG].map((part) => quoted(part)).join(' ');
    writeFileSync(file, `[Desktop Entry]\nType=Application\nName=License Desk\nExec=${command}\n`);
  } else {
    rmSync(autostartFile(), { force: true });
  }
}
