// How the server and the desktop app around it communicate.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerStatus } from '#server/features/overview/server-status.ts';
import type { RefusalCause } from '#server/platform/operator-error.ts';

/** A port that another program listens on. */
export interface TakenPort {
  setting: 'port' | 'admin-port';
  host: string;
  port: number;
}

export type MessageFromServer =
  /** It accepts connections. Sent again, with another code, when it is asked to `sign_in`. */
  | { type: 'ready'; api: string; admin: string }
  /** Sent when any of it has changed. */
  | ({ type: 'status' } & ServerStatus)
  /** It cannot start, and could not the next time. It ends when this is `heard`. */
  | { type: 'refused'; cause: RefusalCause; message: string; taken: TakenPort | null }
  /** It ends because of an error that may not occur again, when this is `heard`. */
  | { type: 'failed'; message: string };

export interface MessageToServer {
  type: 'sign_in' | 'stop' /** The computer has slept, or its clock was set. */ | 'wake' | 'heard';
}

/** An app that hangs must not keep the server from ending. */
const HEARD_TIMEOUT_MS = 500;

/** What Electron's utility process offers to communicate with the app around it. */
interface ParentPort {
  postMessage(message: MessageFromServer): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
}

/** Undefined under plain Node. */
export function parentPort(): ParentPort | undefined {
  return (process as { parentPort?: ParentPort }).parentPort;
}

/** Calls the listener for each message of this type from the app. Without an app, never. */
export function onParentMessage(type: MessageToServer['type'], listener: () => void): void {
  parentPort()?.on('message', ({ data }) => {
    if ((data as { type?: unknown } | null)?.type === type) listener();
  });
}

/** The last message of a server: messages that are in the port when the process exits are lost. */
export async function postLastMessage(message: MessageFromServer): Promise<void> {
  const port = parentPort();
  if (!port) return;
  const heard = new Promise<void>((resolve) => {
    onParentMessage('heard', resolve);
  });
  port.postMessage(message);
  await Promise.race([heard, sleep(HEARD_TIMEOUT_MS)]);
}
