/** The order of events while the app quits, with every refusal on the way. */
import { app, BrowserWindow } from 'electron';

/** @param {(order: readonly string[]) => void} onQuit called at the very end */
export function observeQuit(onQuit) {
  /** @type {string[]} */
  const order = [];
  const refuse = new Set(['before-quit', 'close', 'will-quit']);
  /**
   * @param {string} name
   * @param {{ preventDefault(): void }} event
   */
  const note = (name, event) => {
    order.push(refuse.has(name) ? `${name}, refused` : name);
    if (!refuse.delete(name)) return;
    event.preventDefault();
    // Once more, after this attempt has come to its end.
    setTimeout(() => app.quit(), 100);
  };
  const window = new BrowserWindow({ show: false });
  window.on('close', (event) => note('close', event));
  window.on('closed', () => order.push('closed'));
  app.on('window-all-closed', () => order.push('window-all-closed'));
  app.on('before-quit', (event) => note('before-quit', event));
  app.on('will-quit', (event) => note('will-quit', event));
  app.on('quit', (_event, code) => {
    order.push(`quit ${code}`);
    onQuit(order);
  });
  app.quit();
}
