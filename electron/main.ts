// The desktop shell. The product is in the server and its page; this starts the one and shows the other.
import { join } from 'node:path';
import { app } from 'electron';
import { setUpAppIdentity } from './app-identity.ts';
import { setUpContentLock } from './content-lock.ts';
import { askToTryAgain } from './failure-dialog.ts';
import { setUpBridge } from './ipc.ts';
import { setUpQuit } from './quit.ts';
import { givenDataDirectory, serverArguments } from './server-arguments.ts';
import { setUpServerProcess } from './server-process.ts';
import { setUpSingleInstance } from './single-instance.ts';
import { setUpMainWindow } from './window.ts';

const args = serverArguments(process.argv);

async function runShell(): Promise<void> {
  const window = setUpMainWindow();
  if (!setUpSingleInstance(() => window.focus())) {
    app.quit();
    return;
  }
  await app.whenReady();
  setUpContentLock(window.isOwnPage);
  const server = setUpServerProcess({
    modulePath: join(import.meta.dirname, 'server.js'),
    args,
    onReady: (address) => window.open(address),
    onGiveUp: async (reason) => {
      if (await askToTryAgain(reason)) server.start();
      else app.quit();
    },
  });
  setUpBridge({ isOwnPage: window.isOwnPage, requestSignIn: server.requestSignIn });
  setUpQuit(server);
  server.start();
}

// A terminal that was closed must not take the app along.
process.stderr.on('error', () => {});
setUpAppIdentity(givenDataDirectory(args, process.env));
void runShell();
