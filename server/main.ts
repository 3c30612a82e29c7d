// The server as the desktop app starts it: settings from environment and config.json, flags from its arguments.
import { parseArgs } from 'node:util';
import { parentPort, type RefusalCause } from './parent-port.ts';
import { loadConfig } from './platform/config.ts';
import { maskPasswords } from './platform/mask-passwords.ts';
import { refuseDebugger } from './platform/refuse-debugger.ts';
import { SETTINGS } from './platform/settings.ts';
import { serve } from './serve.ts';

refuseDebugger();

const options = Object.fromEntries(
  Object.values(SETTINGS).map(({ flag }) => [flag, { type: 'string' as const }]),
);

/** By the names of the errors that `serve` throws. */
const CAUSES: Readonly<Record<string, RefusalCause>> = {
  AddressError: 'address',
  ConfigError: 'settings',
  DataDirectoryError: 'data_directory',
  UnusableDatabaseError: 'database',
  NewerDatabaseError: 'newer_database',
};

try {
  const { values } = parseArgs({ options });
  await serve(loadConfig({ flags: values as Record<string, string | undefined>, env: process.env }));
} catch (error) {
  const { name } = error as Error;
  const message = maskPasswords((error as Error).message);
  const cause = CAUSES[name];
  // Anything else may be gone the next time.
  if (cause) parentPort()?.postMessage({ type: 'refused', cause, message });
  // A utility process of Electron does not end by itself.
  process.stderr.write(`error: ${message}\n`, () => process.exit(1));
}
