// The server as started by the desktop app: settings from environment and config.json, flags from its arguments.
import { parseArgs } from 'node:util';
import { type MessageFromServer, postLastMessage } from './parent-port.ts';
import { loadConfig } from '#server/platform/config.ts';
import type { AddressError } from '#server/platform/address-error.ts';
import { maskPasswords } from '#server/platform/mask-passwords.ts';
import { OperatorError } from '#server/platform/operator-error.ts';
import { refuseDebugger } from '#server/platform/refuse-debugger.ts';
import { SETTINGS } from '#server/platform/settings.ts';
import { serve } from './serve.ts';

refuseDebugger();

const options = Object.fromEntries(
  Object.values(SETTINGS).map(({ flag }) => [flag, { type: 'string' as const }]),
);

function lastMessage(error: Error): MessageFromServer {
  const message = maskPasswords(error.message);
  const cause = error instanceof OperatorError ? error.refusal : null;
  if (cause === null) return { type: 'failed', message };
  return { type: 'refused', cause, message, taken: (error as Partial<AddressError>).taken ?? null };
}

let isEnding = false;

/** An Electron utility process does not end by itself. */
async function endWith(reason: unknown, text: (error: Error) => string): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  const error = reason instanceof Error ? reason : new Error(String(reason));
  const written = new Promise<void>((resolve) => {
    process.stderr.write(`error: ${maskPasswords(text(error))}\n`, () => resolve());
  });
  await Promise.all([written, postLastMessage(lastMessage(error))]);
  process.exit(1);
}

// Electron only warns about unhandled rejections (shell/services/node/node_service.cc), and the server would continue
// in an unknown state.
const endWithStack = (reason: unknown) => void endWith(reason, (error) => error.stack ?? error.message);
process.on('unhandledRejection', endWithStack);
process.on('uncaughtException', endWithStack);

try {
  const { values } = parseArgs({ options });
  const flags = values as Record<string, string | undefined>;
  await serve(() => loadConfig({ flags, env: process.env }));
} catch (error) {
  await endWith(error, ({ message }) => message);
}
