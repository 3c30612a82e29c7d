// Whatever is shown stays on the pages of our own, and gets no permission that it does not use.
import { app, session, shell } from 'electron';

/** What `navigator.clipboard.writeText` asks for; the copy buttons need it. */
const CLIPBOARD_WRITE = 'clipboard-sanitized-write';

interface Pages {
  /** Whether an address belongs to the page of our own server, or to the shell's own window. */
  isOwnPage(address: string): boolean;
  /** Whether it belongs to the API listener: its reference is read in the system's browser. */
  isOwnApi(address: string): boolean;
}

export function setUpContentLock({ isOwnPage, isOwnApi }: Pages): void {
  app.on('web-contents-created', (_event, contents) => {
    const stay = (event: { url: string; preventDefault(): void }) => {
      if (!isOwnPage(event.url)) event.preventDefault();
    };
    contents.on('will-navigate', stay);
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
