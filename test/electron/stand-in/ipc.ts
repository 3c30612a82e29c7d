// `ipcMain`: one handler for each channel, and structured clones both ways.
import { cloned, strictEmitter } from './strict.ts';

type Handler = Parameters<Electron.IpcMain['handle']>[1];

const handlers = new Map<string, Handler>();

export const ipcMain = strictEmitter<Electron.IpcMain>('ipcMain', {
  handle(channel, handler) {
    if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
    handlers.set(channel, handler);
  },
} satisfies Partial<Electron.IpcMain>);

/**
 * What `ipcRenderer.invoke` brings to the main process.
 * @param senderUrl null where the frame is gone by the time that the call arrives
 * @throws as the page sees it
 */
export async function handleInvoke(
  sender: Electron.WebContents,
  channel: string,
  args: unknown[],
  senderUrl: string | null,
): Promise<unknown> {
  const senderFrame = senderUrl === null ? null : { url: senderUrl };
  try {
    const handler = handlers.get(channel);
    if (!handler) throw new Error(`No handler registered for '${channel}'`);
    const event = { sender, senderFrame } as Electron.IpcMainInvokeEvent;
    return cloned(await (handler(event, ...cloned(args)) as unknown));
  } catch (error) {
    throw new Error(`Error invoking remote method '${channel}': ${String(error)}`, { cause: error });
  }
}
