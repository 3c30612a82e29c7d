// Whatever is shown stays on the page of our own server, and gets no permission that it does not use.
import { app, session } from 'electron';

/** What `navigator.clipboard.writeText` asks for; the copy buttons need it. */
const CLIPBOARD_WRITE = 'clipboard-sanitized-write';

/** @param isOwnPage whether an address belongs to the page of our own server */
export function setUpContentLock(isOwnPage: (address: string) => boolean): void {
  app.on('web-contents-created', (_event, contents) => {
    const stay = (event: { url: string; preventDefault(): void }) => {
      if (!isOwnPage(event.url)) event.preventDefault();
    };
    contents.on('will-navigate', stay);
    contents.on('will-frame-navigate', stay);
    contents.on('will-redirect', stay);
    contents.on('will-attach-webview', (event) => event.preventDefault());
    contents.setWindowOpenHandler(() => ({ action: 'deny' }));
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
