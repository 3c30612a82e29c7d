// The desktop shell. It starts the server and shows its page; the product itself lives there.
import { join } from 'node:path';
import { platform } from '@electron-toolkit/utils';
import { app, clipboard, dialog, powerMonitor, shell } from 'electron';
import { setUpAppIdentity } from './app-identity.ts';
import { setUpAppMenu } from './app-menu.ts';
import { setUpAttention } from './attention.ts';
import { setUpContentLock } from './content-lock.ts';
import { setUpDock } from './dock.ts';
import { setUpDownloads } from './downloads.ts';
import { askToTryAgain, type Failure } from './failure-screen.ts';
import { setUpBridge, setUpShellBridge } from './ipc.ts';
import { setUpKeepAwake } from './keep-awake.ts';
import { writeKeyFile } from './key-file.ts';
import { keyEnvironment, setUpMasterKey } from './master-key.ts';
import { setUpOpenedFiles } from './opened-files.ts';
import { createPassphrasePrompt } from './passphrase-prompt.ts';
import { setUpPreferences } from './preferences.ts';
import { setUpQuit } from './quit.ts';
import { relaunch } from './relaunch.ts';
import { dataDirectory, lastingFlags, serverArguments, serverFlags } from './server-arguments.ts';
import { setUpServer } from './server.ts';
import type { ServerProcess } from './server-process.ts';
import { registerShellScheme, setUpShellProtocol } from './shell-protocol.ts';
import { setUpShellWindow } from './shell-window.ts';
import { setUpSingleInstance } from './single-instance.ts';
import { setUpSlowStart } from './slow-start.ts';
import { forgetForUpdate, HIDDEN_FLAG, rememberForUpdate, startArguments } from './start-arguments.ts';
import { setUpStartAtLogin } from './start-at-login.ts';
import { showStillRunningNotice } from './still-running.ts';
import { setUpPortChoice } from './taken-port.ts';
import { texts } from './texts.ts';
import { setUpTray } from './tray.ts';
import { setUpTrayHost } from './tray-host.ts';
import { setUpUpdates } from './updates.ts';
import { setUpWindowState } from './window-state.ts';
import { setUpMainWindow } from './window.ts';

const argv = startArguments(process.argv);
const flags = serverFlags(argv);
const dataDir = dataDirectory(flags, process.env);

/** macOS passes no arguments at login. */
const startsHidden = () =>
  argv.includes(HIDDEN_FLAG) || (platform.isMacOS && app.getLoginItemSettings().wasOpenedAtLogin);

async function runShell(): Promise<void> {
  const files = setUpOpenedFiles(() => window.tellFileOpened());
  const isFirst = setUpSingleInstance({
    dataDir,
    isDataDirNamed: Boolean(flags['data-dir']),
    onStartedAgain(args, workingDirectory) {
      if (!files.openFrom(args, workingDirectory)) bringToFront();
    },
    onQuit: () => quit.bySystem(),
  });
  if (!isFirst) {
    app.quit();
    return;
  }
  await app.whenReady();

  const startAtLogin = setUpStartAtLogin(lastingFlags(flags, process.env));
  const preferences = setUpPreferences(startAtLogin);
  /** A problem that keeps the server from running is more important than its page. */
  const bringToFront = () => {
    if (notice.focus()) return;
    slowStart.show();
    window.focus();
  };
  let api = '';
  const copyApiAddress = () => void clipboard.writeText(api);
  const dock = setUpDock(startsHidden());
  const trayHost = setUpTrayHost();
  const keepAwake = setUpKeepAwake(preferences);
  const notice = setUpShellWindow(dock.show);
  const slowStart = setUpSlowStart({
    window: notice,
    dataDir,
    startsHidden: startsHidden(),
    quit: () => quit.byUser(),
  });
  const vault = setUpMasterKey({ dataDir, flags, prompt: createPassphrasePrompt(notice) });
  const ports = setUpPortChoice(flags);
  const onFailure = async (failure: Failure) => {
    // Quitting closed the window that was waiting for an answer.
    if (quit.isQuitting()) return;
    if (!(await askToTryAgain(failure, { window: notice, dataDir, ports }))) return quit.byUser();
    // Chromium asks the keychain once in the life of a process.
    if (failure.cause !== 'key') return server.start();
    relaunch(argv.slice(1));
  };
  const server: ServerProcess = setUpServer({
    dataDir,
    window: notice,
    startsHidden: startsHidden(),
    onNoChoice: () => app.quit(),
    modulePath: join(import.meta.dirname, 'server.js'),
    args: () => serverArguments(flags),
    prepare: () => keyEnvironment(vault, onFailure),
    onStarting: slowStart.begin,
    onReady(addresses) {
      ({ api } = addresses);
      slowStart.ready();
      keepAwake.serverRuns(true);
      window.open(addresses.admin);
    },
    onStatus(status) {
      tray.show(status);
      notify(status);
    },
    onDown() {
      slowStart.fail();
      keepAwake.serverRuns(false);
      tray.show(null);
    },
    onGiveUp: (failure) => void onFailure(failure),
  });
  const quit = setUpQuit({ server, onBySystem: () => updates.leaveForLater() });
  const window = setUpMainWindow({
    state: setUpWindowState(),
    startsHidden: startsHidden(),
    onClose() {
      if (quit.isQuitting() || !preferences.read().keep_in_tray) return 'close';
      return trayHost.showsIcons() ? 'hide' : 'minimize';
    },
    quit,
    onKept: () => showStillRunningNotice(trayHost.showsIcons()),
    onShow() {
      dock.show();
      trayHost.check();
    },
    onClosed: () => platform.isMacOS || app.quit(),
    requestSignIn: server.requestSignIn,
  });
  const tray = setUpTray({
    open: bringToFront,
    copyApiAddress,
    restartServer: server.restart,
    quit: quit.byUser,
    apiAddress: () => api,
    preferences,
  });
  const notify = setUpAttention({
    isWanted: () => preferences.read().notifications,
    show: window.showScreen,
  });
  const updates = setUpUpdates({
    address: () => preferences.read().update_address,
    closeWindow: window.close,
    openWindow: window.focus,
    stopServer: server.stop,
    startServer: server.start,
    rememberStart: () => rememberForUpdate(lastingFlags(flags, process.env)),
    forgetStart: forgetForUpdate,
    onAppImageRenamed: startAtLogin.moveTo,
  });

  setUpContentLock({
    isOwnPage: (address) => window.isOwnPage(address) || notice.isOwnPage(address),
    isOwnApi: (address) => api !== '' && address.startsWith(api),
  });
  setUpBridge({ isOwnPage: window.isOwnPage, requestSignIn: server.requestSignIn, files, preferences });
  setUpShellProtocol();
  setUpShellBridge(notice);
  setUpDownloads();
  setUpAppMenu({
    openFile: () => void files.choose(),
    copyApiAddress,
    openApiReference: () => void shell.openExternal(`${api}docs/`),
    showDataDirectory: () => void shell.openPath(dataDir),
    showLogs: () => void shell.openPath(join(dataDir, 'logs')),
    writeKeyFile: () => void writeKeyFile(vault, dataDir, quit.byUser),
    checkForUpdates: () => void updates.check(),
    showThirdPartyLicenses: () => window.showScreen('/settings?tab=about'),
    quit: quit.byUser,
  });
  powerMonitor.on('resume', server.wake);
  // Electron would quit. The server keeps running in the tray, and another window may open later.
  app.on('window-all-closed', () => {});
  files.openFrom(process.argv, process.cwd());
  await server.start();
}

/** Electron only warns of a rejection, and an app without a window would stay. */
function endWith(error: unknown): void {
  const { message } = error as Error;
  process.stderr.write(`error: ${message}\n`);
  dialog.showErrorBox(texts().cannotStart, message);
  app.exit(1);
}

// The app keeps running when the terminal that started it is closed.
process.stderr.on('error', () => {});
setUpAppIdentity(dataDir);
registerShellScheme();
runShell().catch(endWith);
