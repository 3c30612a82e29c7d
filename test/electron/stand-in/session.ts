// `session`: permissions and downloads of what windows show.
import { report } from './happenings.ts';
import { needReady } from './lifecycle.ts';
import { sessionProtocol } from './protocol.ts';
import { electronEvent, emit, strict, strictEmitter } from './strict.ts';

type Session = Electron.Session;
type PermissionHandler = NonNullable<Parameters<Session['setPermissionRequestHandler']>[0]>;
type PermissionCheck = NonNullable<Parameters<Session['setPermissionCheckHandler']>[0]>;
type Contents = Electron.WebContents;

let askPermission: PermissionHandler = (_contents, _permission, callback) => callback(true);
let checkPermission: PermissionCheck = () => true;

const defaultSession = strictEmitter<Session>('session.defaultSession', {
  protocol: sessionProtocol,
  setPermissionRequestHandler(handler) {
    if (handler) askPermission = handler;
  },
  setPermissionCheckHandler(handler) {
    if (handler) checkPermission = handler;
  },
  setDevicePermissionHandler: () => {},
} satisfies Partial<Session>);

export const session = strict<{ defaultSession: Session }>('session', {
  get defaultSession() {
    needReady('Session can only be received when app is ready');
    return defaultSession;
  },
});

/** @returns what a request is answered, and what a check says */
export async function permissionFor(permission: string, origin: string): Promise<boolean[]> {
  const none = null as unknown as Contents;
  const asked = await new Promise<boolean>((resolve) => {
    const details = { requestingUrl: `${origin}/` } as Parameters<PermissionHandler>[3];
    askPermission(none, permission as Parameters<PermissionHandler>[1], resolve, details);
  });
  const details = {} as Parameters<PermissionCheck>[3];
  return [asked, checkPermission(none, permission as Parameters<PermissionCheck>[1], origin, details)];
}

interface DownloadOfTest {
  /** Where the shell suggests to save it. */
  defaultPath(): string;
  update(): void;
  finish(state: 'completed' | 'interrupted'): void;
}

export function beginDownload(contents: Contents, name: string): DownloadOfTest {
  let defaultPath = '';
  const item = strictEmitter<Electron.DownloadItem>('DownloadItem', {
    getFilename: () => name,
    getTotalBytes: () => 0,
    getReceivedBytes: () => 0,
    setSaveDialogOptions(options) {
      defaultPath = options.defaultPath ?? '';
    },
  } satisfies Partial<Electron.DownloadItem>);
  emit(defaultSession, 'will-download', electronEvent({}), item, contents);
  return {
    defaultPath: () => defaultPath,
    update: () => void emit(item, 'updated', electronEvent({}), 'progressing'),
    finish(state) {
      emit(item, 'done', electronEvent({}), state);
      report({ event: 'download', defaultPath, state });
    },
  };
}

export async function startDownload(
  contents: Contents,
  name: string,
  saveAs: (path: string) => Promise<void>,
): Promise<void> {
  const download = beginDownload(contents, name);
  const state = await saveAs(download.defaultPath()).then(
    () => 'completed' as const,
    () => 'interrupted' as const,
  );
  download.finish(state);
}
