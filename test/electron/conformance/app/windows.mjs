/** How a window closes, and what is left of it. */
import { BrowserWindow } from 'electron';
import { attempt, once } from './attempt.mjs';

export async function observeWindows() {
  const window = new BrowserWindow({ show: false, webPreferences: { sandbox: true } });
  await window.loadURL('data:text/html,window');
  const finished = once(window.webContents, 'did-finish-load');
  void window.loadURL('data:text/html,again');
  await finished;

  let refuses = true;
  /** @type {string[]} */
  const order = [];
  window.on('close', (event) => {
    order.push('close');
    if (refuses) event.preventDefault();
  });
  window.on('closed', () => order.push(window.isDestroyed() ? 'closed, destroyed' : 'closed, usable'));
  window.close();
  order.push('after a refused close()');
  refuses = false;
  const closed = once(window, 'closed');
  window.close();
  order.push('after close()');
  await closed;
  return {
    order,
    isDestroyed: window.isDestroyed(),
    showAfterwards: await attempt(() => window.show()),
    progressAfterwards: await attempt(() => window.setProgressBar(0.5)),
    listenAfterwards: await attempt(() => window.on('show', () => {})),
  };
}
