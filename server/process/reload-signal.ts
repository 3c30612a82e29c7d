// SIGHUP makes a running server reopen its log files, for programs such as logrotate that have renamed them.
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

/**
 * @param reload called for each SIGHUP
 * @param stop called instead if the server's terminal was closed, which also sends SIGHUP
 */
export function onReloadSignal(reload: () => void, stop: () => void): void {
  // Windows sends SIGHUP only when the console closes, and ends the process soon after.
  if (process.platform === 'win32') return;
  const startedInTerminal = isatty(STDIN) && hasTerminal();
  process.on('SIGHUP', () => (startedInTerminal && !hasTerminal() ? stop() : reload()));
}
