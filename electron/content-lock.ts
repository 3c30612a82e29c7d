// Keeps every window on our own pages and denies permissions that the app does not use.
import { app, session, shell } from 'electron';

/** `navigator.clipboard.writeText` needs this permission for the copy buttons. */
const CLIPBOARD_WRITE = 'clipboard-sanitized-write';

interface Pages {
  /** Whether the address belongs to the page of our own server or to the shell's own window. */
  isOwnPage(address: string): boolean;
  /** Whether the address belongs to the API listener. Its reference opens in the system browser. */
  isOwnApi(address: string): boolean;
}

export function setUpContentLock({ isOwnPage, isOwnApi }: Pages): void {
  app.on('web-contents-created', (_event, contents) => {
    const stay = (event: { url: string; preventDefault(): void }) => {
      if (!isOwnPage(event.url)) event.preventDefault();
    };
    contents.on('will-navigate', (event) => {
      stay(event);
      // The hand-over of a license opens the mail program.
      if (event.url.startsWith('mailto:')) void shell.openExternal(event.url);
    });
    contents.on('will-frame-navigate', stay);
    contents.on('will-redirect', stay);
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(({ url }) => {
      if (isOwnApi(url)) void shell.openExternal(url);
      return { action: 'deny' };
    });
  });

  const { defaultSession } = session;
  defaultSession.setPermissionRequestHandler((_contents, permission, answer, details) =>
    answer(permission === CLIPBOARD_WRITE && isOwnPage(details.requestingUrl)),
  );
  defaultSession.setPermissionCheckHandler(
    (_contents, permission, origin) => permission === CLIPBOARD_WRITE && isOwnPage(origin),
  );
  defaultSession.setDevicePermissionHandler(() => false);
}
