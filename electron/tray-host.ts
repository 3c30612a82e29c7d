// Whether the desktop shows tray icons. GNOME shows none without an extension, and Electron cannot tell.
import { execFile } from 'node:child_process';

const WATCHER = 'org.kde.StatusNotifierWatcher';
const ASK_TIMEOUT_MS = 3000;
const BUS = ['org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus.NameHasOwner'] as const;
const [DESTINATION, OBJECT, METHOD] = BUS;

/** GLib's tool is part of every GNOME, and D-Bus's own tool of nearly every other desktop. */
const QUESTIONS: readonly (readonly [string, readonly string[]])[] = [
  [
    'gdbus',
    ['call', '--session', '--dest', DESTINATION, '--object-path', OBJECT, '--method', METHOD, WATCHER],
  ],
  [
    'dbus-send',
    ['--session', '--print-reply=literal', `--dest=${DESTINATION}`, OBJECT, METHOD, `string:${WATCHER}`],
  ],
];

function ask([command, args]: (typeof QUESTIONS)[number]): Promise<boolean | null> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: ASK_TIMEOUT_MS }, (error, stdout) => {
      resolve(error ? null : /\btrue\b/u.test(stdout));
    });
  });
}

async function hasHost(): Promise<boolean> {
  for (const question of QUESTIONS) {
    const answer = await ask(question);
    if (answer !== null) return answer;
  }
  // A minimized window can be found again; a hidden one cannot.
  return false;
}

export interface TrayHost {
  /** The result of the last check. */
  showsIcons(): boolean;
  /** Checks again: an extension may have been enabled since. */
  check(): void;
}

export function setUpTrayHost(): TrayHost {
  let showsIcons = true;
  const check = () => {
    if (process.platform !== 'linux') return;
    void hasHost().then((answer) => {
      showsIcons = answer;
    });
  };
  check();
  return { showsIcons: () => showsIcons, check };
}
