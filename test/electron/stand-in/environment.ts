// What a test says about the computer that the shell runs on. Read before the shell is imported.

const read = (name: string): string | undefined => process.env[`STAND_IN_${name}`];

/** Where Electron would report `process.platform`: Node's own code has chosen its branches by then. */
export const platform = (read('PLATFORM') ?? process.platform) as NodeJS.Platform;

export const isPackaged = read('PACKAGED') === '1';

/** A compositor that shows no frame of a window that was never shown, so `ready-to-show` waits for `show()`. */
export const isWayland = read('WAYLAND') === '1';

export const isSecondInstance = read('SECOND_INSTANCE') === '1';

export const locale = read('LOCALE') ?? 'en-US';

/** The only screen, without its bars: `1366x720`. */
export const screenSize = (read('SCREEN') ?? '1920x1040').split('x').map(Number);

/** Where the user keeps documents, and where the system keeps the data of apps. */
export const documents = read('DOCUMENTS');
export const appData = read('APP_DATA');

/** macOS started the app with the session of the user. */
export const wasOpenedAtLogin = read('OPENED_AT_LOGIN') === '1';

/** A module that takes the place of the built server. */
export const serverModule = read('SERVER');

/**
 * - `keyring` (default): works
 * - `no-keyring`: GNOME by name, but no Secret Service answers, so Chromium uses a constant
 * - `unknown-desktop`: Chromium does not know the desktop, but its Secret Service works
 * - `basic_text`: neither
 * - `locked`: cannot be opened
 * - `rotated`: opens what an older key sealed
 */
export const keychain = read('KEYCHAIN') ?? 'keyring';

/** While this file exists the keychain is locked. */
export const keychainLock = read('KEYCHAIN_LOCK');

/** No timer of the shell runs longer than these milliseconds. */
export const longestTimer = Number(read('LONGEST_TIMER') ?? Number.POSITIVE_INFINITY);

/** Timers of these milliseconds run as long as they are. */
export const keptTimer = Number(read('KEPT_TIMER'));

/** Where the app's package.json is. */
export const appPath = read('APP_PATH') ?? process.cwd();

/** The version that the update server offers; undefined leaves electron-updater itself in place. */
export const offeredVersion = read('UPDATE');

/** An installer that cannot be started. */
export const isInstallRefused = read('INSTALL') === 'refused';

/** A download that breaks off. */
export const isDownloadInterrupted = read('DOWNLOAD') === 'interrupted';

/** Where a Chromium for the pages listens; undefined shows nothing. */
export const browserEndpoint = read('BROWSER');

/** Pages that start to load and never finish. */
export const isStalled = read('STALLED') === '1';

/** A tray that the system refuses to make. */
export const isTrayRefused = read('TRAY') === 'refused';
