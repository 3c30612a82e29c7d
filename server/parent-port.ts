// How the server and the desktop app around it speak with each other.

/** What keeps a server from starting, as far as it decides what can be done about it. */
export type RefusalCause = 'address' | 'data_directory' | 'database' | 'newer_database' | 'settings';

/** What the app shows in its tray, and tells the administrator of when it gets worse. */
export interface ServerStatus {
  health: 'ok' | 'failing';
  /** Deliveries that came to nothing and can be tried again. */
  failed_deliveries: number;
  /** Licenses that end within a week. Of very many, only as many as are worth counting. */
  ending_soon: number;
}

export type MessageFromServer =
  /** It accepts connections; said again, with another code, when it is asked to `sign_in`. */
  | { type: 'ready'; api: string; admin: string }
  /** When anything of it has changed. */
  | ({ type: 'status' } & ServerStatus)
  /** It cannot start, and would not the next time; it ends after this. */
  | { type: 'refused'; cause: RefusalCause; message: string };

export interface MessageToServer {
  type: 'sign_in' | 'stop' /** The computer has slept, or its clock was set. */ | 'wake';
}

/** What Electron's utility process offers to speak with the app around it. */
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
