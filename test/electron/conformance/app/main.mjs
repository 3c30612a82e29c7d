/**
 * Runs as the main process in Electron and in the stand-in, and writes what it observes as JSON to the file that
 * CONFORMANCE_OUT names. Only behaviour that the shell relies on, and that no desktop changes.
 */
import { writeFileSync } from 'node:fs';
import { app } from 'electron';
import { observeBeforeReady } from './before-ready.mjs';
import { observeIpc } from './ipc.mjs';
import { observeQuit } from './quit.mjs';
import { observeSystem } from './system.mjs';
import { observeUtilityProcess } from './utility.mjs';
import { observeWindows } from './windows.mjs';

/** @type {Record<string, unknown>} */
const facts = { beforeReady: await observeBeforeReady() };

async function observe() {
  // The app survives it, and the rest of the facts prove that.
  void Promise.reject(new Error('nobody handles this'));
  await app.whenReady();
  app.on('window-all-closed', () => {});
  facts['system'] = await observeSystem();
  facts['windows'] = await observeWindows();
  facts['ipc'] = await observeIpc();
  facts['utility'] = await observeUtilityProcess();
  observeQuit((order) => {
    facts['quit'] = order;
    writeFileSync(String(process.env['CONFORMANCE_OUT']), `${JSON.stringify(facts, null, 2)}\n`);
  });
}

// Not awaited: an ES module that waits for `ready` would keep Electron from becoming ready.
observe().catch((error) => {
  process.stderr.write(`${error.stack}\n`);
  app.exit(1);
});
