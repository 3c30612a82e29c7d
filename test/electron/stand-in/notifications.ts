// `Notification`: on Windows a toast that timed out stays in the Action Center, but its object hears no more of it.
import { platform } from './environment.ts';
import { report } from './happenings.ts';
import { needReady } from './lifecycle.ts';
import { electronEvent, emit, strictEmitter } from './strict.ts';

type Options = Electron.NotificationConstructorOptions;
type Activated = Parameters<typeof Electron.Notification.handleActivation>[0];

interface Toast {
  object: Electron.Notification;
  isTimedOut: boolean;
}

const shown: Toast[] = [];
let activated: Activated = () => {};

function createNotification(options: Options = {}): Electron.Notification {
  needReady('Cannot create Notification before app is ready');
  const { title = '', body = '', id = '' } = options;
  const object = strictEmitter<Electron.Notification>('Notification', {
    id,
    title,
    body,
    show() {
      shown.push(toast);
      report({ event: 'notification', title, body });
      emit(object, 'show', electronEvent({}));
    },
    close: () => void emit(object, 'close', electronEvent({ reason: 'applicationHidden' })),
  } satisfies Partial<Electron.Notification>);
  const toast: Toast = { object, isTimedOut: false };
  return object;
}

export const Notification = Object.assign(
  function Notification(options?: Options) {
    return createNotification(options);
  },
  {
    isSupported: () => true,
    ...(platform === 'win32' && {
      handleActivation(callback: Activated) {
        activated = callback;
      },
    }),
  } satisfies Partial<typeof Electron.Notification>,
);

export function timeOut(number: number): void {
  const toast = shown[number - 1];
  if (!toast) return;
  toast.isTimedOut = platform === 'win32';
  emit(toast.object, 'close', electronEvent({ reason: 'timedOut' }));
}

export function clickNotification(number: number): void {
  const toast = shown[number - 1];
  if (!toast) return;
  if (!toast.isTimedOut) emit(toast.object, 'click', electronEvent({}));
  // The launch string of the toast, with a hash of its id.
  activated({ type: 'click', arguments: `type=click&action=0&tag=${number}00771` });
}
