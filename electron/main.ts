// The desktop shell. The product is in the server and its page; this starts the one and shows the other.
import { join } from 'node:path';
import { platform } from '@electron-toolkit/utils';
import { app, clipboard, powerMonitor, shell } from 'electron';
import { setUpAppIdentity } from './app-identity.ts';
import { setUpAppMenu } from './app-menu.ts';
import { setUpAttention } from './attention.ts';
import { setUpContentLock } from './content-lock.ts';
import { setUpDownloads } from './downloads.ts';
import { askToTryAgain, type Failure } from './failure-screen.ts';
import { setUpBridge, setUpShellBridge } from './ipc.ts';
import { writeKeyFile } from './key-file.ts';
import { sayOnceThatItRuns } from './kept-in-tray.ts';
import { keyEnvironment, setUpMasterKey } from './master-key.ts';
import { setUpOpenedFiles } from './opened-files.ts';
import { createPassphraseDesk } from './passphrase-desk.ts';
import { setUpPreferences } from './preferences.ts';
import { setUpQuit } from './quit.ts';
import { dataDirectory, serverArguments, serverFlags } from './server-arguments.ts';
import { type ServerProcess, setUpServerProcess } from './server-process.ts';
import { registerShellScheme, setUpShellProtocol } from './shell-protocol.ts';
import { setUpShellWindow } from './shell-window.ts';
import { setUpSingleInstance } from './single-instance.ts';
import { HIDDEN_FLAG } from './start-at-login.ts';
import { setUpTray } from './tray.ts';
import { setUpUpdates } from './updates.ts';
import { setUpWindowState } from './window-state.ts';
import { setUpMainWindow } from './window.ts';

const flags = serverFlags(process.argv);
const dataDir = dataDirectory(flags, process.env);

async function runShell(): Promise<void> {
  const preferences = setUpPreferences();
  const files = setUpOpenedFiles(() => window.tellFileOpened());
  const isFirst = setUpSingleInstance((argv, workingDirectory) => {
    if (!files.openFrom(argv, workingDirectory)) bringToFront();
  });
  if (!isFirst) {
    app.quit();
    return;
  }
  await app.whenReady();

  /** What keeps the server from running is to be seen before its page. */
  const bringToFront = () => notice.focus() || window.focus();
  let api = '';
  const copyApiAddress = () => clipboard.writeText(api);
  const notice = setUpShellWindow();
  const vault = setUpMasterKey({ dataDir, flags, desk: createPassphraseDesk(notice) });
  const onFailure = async (failure: Failure) => {
    // The window that was to answer has been closed to leave.
    if (quit.isQuitting()) return;
    if (await askToTryAgain(failure, { window: notice, dataDir })) void server.start();
    else app.quit();
  };
  const server: ServerProcess = setUpServerProcess({
    modulePath: join(import.meta.dirname, 'server.js'),
    args: serverArguments(flags),
    prepare: () => keyEnvironment(vault, onFailure),
    onReady(addresses) {
      ({ api } = addresses);
      window.open(addresses.admin);
    },
    onStatus(status) {
      tray.show(status);
      attend(status);
    },
    onDown: () => tray.show(null),
    onGiveUp: onFailure,
  });
  const quit = setUpQuit(server);
  const window = setUpMainWindow({
    state: setUpWindowState(),
    startsHidden: process.argv.includes(HIDDEN_FLAG),
    hidesOnClose: () => preferences.read().keep_in_tray && !quit.isQuitting(),
    onHidden: sayOnceThatItRuns,
    onClosed: () => platform.isMacOS || app.quit(),
    requestSignIn: server.requestSignIn,
  });
  const tray = setUpTray({ open: bringToFront, copyApiAddress, quit: () => app.quit() });
  const attend = setUpAttention({
    isWanted: () => preferences.read().notifications,
    show: window.showScreen,
  });
  const updates = setUpUpdates({ address: () => preferences.read().update_address });

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
    writeKeyFile: () => void writeKeyFile(vault, dataDir),
    lookForUpdates: () => void updates.look(),
    showThirdPartyLicenses: () => window.showScreen('/settings?tab=about'),
    quit: () => app.quit(),
  });
  powerMonitor.on('resume', server.wake);
  // Electron would quit; but the service goes on in the tray, and one window may give way to another.
  app.on('window-all-closed', () => {});
  files.openFrom(process.argv, process.cwd());
  await server.start();
}

// A terminal that was closed must not take the app along.
process.stderr.on('error', () => {});
setUpAppIdentity(dataDir);
registerShellScheme();
void runShell();
