// Starts the app with the user's session, without a window.
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { app } from 'electron';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { directoryFrom } from '#server/platform/os-user.ts';
import type { ServerFlags } from './server-arguments.ts';
import { hiddenStart, rememberForLogin } from './start-arguments.ts';

export interface StartAtLogin {
  /** Read from the system, because its own settings may have changed the value. */
  isOn(): boolean;
  /** @throws what the file system throws */
  set(isWanted: boolean): void;
  /** An update renamed the AppImage. */
  moveTo(appImage: string): void;
}

/** Where Linux sessions look for autostart entries (XDG autostart specification). */
function autostartFile(): string {
  const config = directoryFrom('XDG_CONFIG_HOME') ?? join(homedir(), '.config');
  return join(config, 'autostart', 'license-desk.desktop');
}

/** An argument of `Exec=` in quotes; `%` starts a field code (desktop entry specification). */
const inDesktopEntry = (text: string) =>
  `"${text.replaceAll(/["`$\\]/gu, String.raw`\$&`).replaceAll('%', '%%')}"`;

/** An argument of a command line in the registry. A backslash before the closing quote would escape it. */
const inRegistry = (text: string) => `"${text.replace(/\\+$/u, '$&$&')}"`;

/** An app from a checkout is an argument of Electron. */
const ownArguments = () => (app.isPackaged ? [] : [app.getAppPath()]);

function onLinux(args: readonly string[]): StartAtLogin {
  // An AppImage runs from a mount that is gone afterwards.
  let program = process.env['APPIMAGE'] ?? process.execPath;
  const isOn = () => {
    if (!existsSync(autostartFile())) return false;
    // How desktops disable an entry without removing it.
    return !/^(?:Hidden=true|X-GNOME-Autostart-enabled=false)\s*$/mu.test(
      readFileSync(autostartFile(), 'utf8'),
    );
  };
  function write(): void {
    const file = autostartFile();
    mkdirSync(dirname(file), { recursive: true });
    const command = [program, ...ownArguments(), ...args].map(inDesktopEntry).join(' ');
    // Without the program, as after it was removed, desktops ignore the entry.
    const entry = [
      '[Desktop Entry]',
      'Type=Application',
      'Name=License Desk',
      'Icon=license-desk',
      `TryExec=${program}`,
      `Exec=${command}`,
    ];
    writeFileDurably(file, `${entry.join('\n')}\n`);
  }
  return {
    isOn,
    set(isWanted) {
      if (isWanted) write();
      else rmSync(autostartFile(), { force: true });
    },
    moveTo(appImage) {
      program = appImage;
      if (isOn()) write();
    },
  };
}

function onWindows(args: readonly string[]): StartAtLogin {
  // Electron quotes neither the program nor its arguments, and `License Desk.exe` has a space (electron/electron#32657).
  const item = { path: inRegistry(process.execPath), args: [...ownArguments(), ...args].map(inRegistry) };
  return {
    isOn: () => app.getLoginItemSettings(item).openAtLogin,
    set: (isWanted) => app.setLoginItemSettings({ openAtLogin: isWanted, ...item }),
    moveTo: () => {},
  };
}

function onMac(flags: ServerFlags): StartAtLogin {
  return {
    isOn: () => app.getLoginItemSettings().openAtLogin,
    set(isWanted) {
      rememberForLogin(isWanted ? flags : null);
      app.setLoginItemSettings({ openAtLogin: isWanted });
    },
    moveTo: () => {},
  };
}

/** @param flags the server's flags for a start at login: `lastingFlags` */
export function setUpStartAtLogin(flags: ServerFlags): StartAtLogin {
  if (process.platform === 'darwin') return onMac(flags);
  const args = hiddenStart(flags);
  return process.platform === 'win32' ? onWindows(args) : onLinux(args);
}
