// The server as the desktop app starts it: settings from environment and config.json, flags from its arguments.
import { parseArgs } from 'node:util';
import { loadConfig } from './platform/config.ts';
import { SETTINGS } from './platform/settings.ts';
import { serve } from './serve.ts';

const options = Object.fromEntries(
  Object.values(SETTINGS).map(({ flag }) => [flag, { type: 'string' as const }]),
);

try {
  const { values } = parseArgs({ options });
  await serve(loadConfig({ flags: values as Record<string, string | undefined>, env: process.env }));
} catch (error) {
  // A utility process of Electron does not end by itself.
  process.stderr.write(`error: ${(error as Error).message}\n`, () => process.exit(1));
}
