// Messages between the server and the desktop app that started it.
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerStatus } from '#server/features/overview/server-status.ts';
import type { RefusalCause } from '#server/platform/operator-error.ts';

/** A port that the server cannot have, because another program uses it or the system denies it. */
export interface TakenPort {
  setting: 'port' | 'admin-port';
  host: string;
  port: number;
  isDenied: boolean;
}

export type MessageFromServer =
  /** It accepts connections. Sent again with another code in reply to `sign_in`. */
  | { type: 'ready'; api: string; admin: string }
  /** Sent when any of it changes. */
  | ({ type: 'status' } & ServerStatus)
  /** It cannot start, and retrying will not help. The process ends when this is `heard`. */
  | { type: 'refused'; cause: RefusalCause; message: string; taken: TakenPort | null }
  /** It failed with an error that may not occur again. The process ends when this is `heard`. */
  | { type: 'failed'; message: string };

export interface MessageToServer {
  type: 'sign_in' | 'stop' /** The computer woke up, or its clock was set. */ | 'wake' | 'heard';
}

/**
 * A hanging app must not keep the server from ending. An app that is only busy must still receive the message: without the
 * cause, it would start the server again.
 */
const HEARD_TIMEOUT_MS = 5000;

/** The messaging interface of an Electron utility process. */
interface ParentPort {
  postMessage(message: MessageFromServer): void;
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
}

/** Undefined under plain Node. */
export function parentPort(): ParentPort | undefined {
  return (process as { parentPort?: ParentPort }).parentPort;
}

/** Calls the listener for each message of this type from the app. Does nothing without an app. */
export function onParentMessage(type: MessageToServer['type'], listener: () => void): void {
  parentPort()?.on('message', ({ data }) => {
    if ((data as { type?: unknown } | null)?.type === type) listener();
  });
}

/** Sends the last message before the exit, which would otherwise drop undelivered messages. */
export async function postLastMessage(message: MessageFromServer): Promise<void> {
  const port = parentPort();
  if (!port) return;
  const heard = new Promise<void>((resolve) => {
    onParentMessage('heard', resolve);
  });
  port.postMessage(message);
  await Promise.race([heard, sleep(HEARD_TIMEOUT_MS)]);
}
