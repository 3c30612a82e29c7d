// SIGHUP makes a server reopen its log files, for programs such as logrotate that have renamed them. It is handled from the
// first moment on: by default, it ends the process.
import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

const STDIN = 0;

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Takes what reopens the log files, once the server is ready, and calls it for each SIGHUP, including earlier ones. */
export type OnReload = (reload: () => void) => void;

/** @param stop called instead if the server's terminal was closed, which also sends SIGHUP */
export function reloadSignal(stop: () => void, platform: NodeJS.Platform = process.platform): OnReload {
  // Windows sends SIGHUP only when the console closes, and ends the process some seconds later: enough to stop.
  if (platform === 'win32') {
    process.on('SIGHUP', stop);
    return () => {};
  }
  const startedInTerminal = isatty(STDIN) && hasTerminal();
  let isWaiting = false;
  let reload = () => {
    isWaiting = true;
  };
  process.on('SIGHUP', () => (startedInTerminal && !hasTerminal() ? stop() : reload()));
  return (reopen) => {
    reload = reopen;
    if (isWaiting) reopen();
  };
}
