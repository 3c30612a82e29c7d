// Notifies systemd of the service's state (sd_notify(3)): ready, stopping, and alive for the watchdog.
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface ServiceManager {
  /** The service accepts requests. @param status one line for `systemctl status` */
  ready(status: string): void;
  stopping(): void;
  /**
   * Notifies the watchdog, if the unit has one, twice per period, as long as `check` finishes within half a period.
   * @param check resolves when the service is alive; problems that a restart cannot fix must not reject
   */
  watch(check: () => Promise<void>): void;
}

const NO_MANAGER: ServiceManager = { ready: () => {}, stopping: () => {}, watch: () => {} };

/** @returns milliseconds between notifications; null without a watchdog, or if it watches another process */
function reportInterval({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number | null {
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(process.pid)) return null;
  const period = Number(WATCHDOG_USEC) / 1000;
  return period > 0 ? period / 2 : null;
}

/**
 * Uses `systemd-notify`, because Node has no Unix datagram sockets. It is part of systemd, and waits until its message
 * has been read:
 * messages of ended processes are dropped. The unit needs `NotifyAccess=all`.
 * @param onError called once if notifications cannot be sent
 */
export function serviceManager(env: NodeJS.ProcessEnv, onError: (error: Error) => void): ServiceManager {
  const { NOTIFY_SOCKET, PATH = '/usr/bin:/bin' } = env;
  if (!NOTIFY_SOCKET) return NO_MANAGER;
  let hasFailed = false;

  function send(...assignments: string[]): void {
    // Passes no other environment variables, because the master key may be among them.
    execFile('systemd-notify', assignments, { env: { NOTIFY_SOCKET, PATH } }, (error) => {
      if (!error || hasFailed) return;
      hasFailed = true;
      onError(error);
    });
  }

  return {
    ready: (status) => send('READY=1', `STATUS=${status}`),
    stopping: () => send('STOPPING=1', 'STATUS=Stopping'),
    watch(check) {
      const interval = reportInterval(env);
      if (interval === null) return;
      const report = async () => {
        const outcome = await Promise.race([
          check().then(() => 'alive'),
          delay(interval, 'late', { ref: false }),
        ]);
        if (outcome === 'alive') send('WATCHDOG=1');
      };
      setInterval(() => void report(), interval).unref();
    },
  };
}
