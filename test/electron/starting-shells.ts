// Shells that are ended after the test that started them, and what most tests do with one.
import { afterEach } from 'vitest';
import { type Shell, type ShellOptions, startShell } from './shell.ts';

export function startingShells(): (options?: ShellOptions) => Shell {
  let shells: Shell[] = [];
  afterEach(async () => {
    await Promise.all(shells.map((shell) => shell.dispose()));
    shells = [];
  });
  return (options) => {
    const shell = startShell(options);
    shells.push(shell);
    return shell;
  };
}

/** In place of the built server. */
export const serverModule = (name: string) => ({ STAND_IN_SERVER: import.meta.resolve(`./${name}.ts`) });

/** A server that is ready at once. The app must not report a slow start, however short its timers are. */
export const announcing = { ...serverModule('announcing-server'), STAND_IN_KEPT_TIMER: '15000' };

const PAGE = 'http://127.0.0.1:1/';

/** As the page of `announcing-server.ts` does. */
export function callBridge<Reply>(shell: Shell, method: string, ...args: unknown[]) {
  const call = { do: 'call-bridge', method, arguments: args, senderUrl: PAGE } as const;
  return shell.happen(call) as Promise<{ reply?: Reply; error?: string }>;
}

/** What the shell's own window shows. @param window the nth that was made */
export async function viewOf(shell: Shell, window = 1): Promise<Record<string, unknown>> {
  const { url: senderUrl } = await shell.eventThat('load', ({ id }) => id === window);
  const call = { do: 'call-bridge', window, method: 'shellView', senderUrl } as const;
  return ((await shell.happen(call)) as { reply: Record<string, unknown> }).reply;
}

/** Ends it as its user does. @returns the exit code */
export async function quit(shell: Shell): Promise<number | null> {
  await shell.happen({ do: 'click-tray', id: 'quit' }).catch(() => {});
  return shell.exited;
}
