// Tells systemd how the service is (sd_notify(3)): ready, stopping, and alive for its watchdog.
import { execFile } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';

export interface ServiceManager {
  /** The service answers. @param status one line for `systemctl status` */
  ready(status: string): void;
  stopping(): void;
  /**
   * Reports for the watchdog, if the unit has one, twice in each of its periods, as long as `check` ends within a half.
   * @param check fulfilled when the service is alive; whether it is well is no business of a restart
   */
  watch(check: () => Promise<void>): void;
}

const NOBODY: ServiceManager = { ready: () => {}, stopping: () => {}, watch: () => {} };

/** @returns milliseconds between reports; null without a watchdog, or if it is for another process */
function reportInterval({ WATCHDOG_USEC, WATCHDOG_PID }: NodeJS.ProcessEnv): number | null {
  if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(process.pid)) return null;
  const period = Number(WATCHDOG_USEC) / 1000;
  return period > 0 ? period / 2 : null;
}

/**
 * By `systemd-notify`, as Node has no datagram sockets of this kind: it is part of systemd, and waits until its message
 * has been read, without which a message of a process that has ended is dropped. The unit needs `NotifyAccess=all`.
 * @param onError told once if nothing can be sent
 */
export function serviceManager(env: NodeJS.ProcessEnv, onError: (error: Error) => void): ServiceManager {
  const { NOTIFY_SOCKET, PATH = '/usr/bin:/bin' } = env;
  if (!NOTIFY_SOCKET) return NOBODY;
  let hasFailed = false;

  function send(...assignments: string[]): void {
    // Nothing else of the environment: the master key may be in it.
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
