// Keeps conditions that need attention, in memory. After a restart, each owner raises its alerts again.
import type { Clock } from '#server/platform/clock.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { type Alert, type AlertCode, ALERTS } from './alert-contract.ts';

/** Limits what a hostile client can raise. Above this, the oldest warning is removed. */
const MAX_ALERTS = 100;

interface AlertDetails {
  /** Distinguishes several alerts with the same code. */
  subject?: string;
  params?: Alert['params'];
}

export interface AlertBoard {
  /** Raises the alert or updates its params. `since` stays unchanged. */
  raise(code: AlertCode, details?: AlertDetails): void;
  /** Without a subject, clears every alert with this code. Does nothing if there is no alert. */
  clear(code: AlertCode, subject?: string): void;
  /** Critical alerts first, then by age. */
  list(): Alert[];
}

interface Needs {
  clock: Clock;
  /** Called whenever the list changes. */
  onChanged(): void;
}

export function createAlertBoard({ clock, onChanged }: Needs): AlertBoard {
  const alerts = new Map<string, Alert>();
  const keyOf = (code: AlertCode, subject: string | null) => `${code} ${subject ?? ''}`;

  function makeRoom(): void {
    if (alerts.size < MAX_ALERTS) return;
    const [oldest] = [...alerts].find(([, { severity }]) => severity === 'warning') ?? [...alerts][0] ?? [];
    if (oldest !== undefined) alerts.delete(oldest);
  }

  return {
    raise(code, { subject, params = {} } = {}) {
      const key = keyOf(code, subject ?? null);
      const raised = alerts.get(key);
      if (raised && JSON.stringify(raised.params) === JSON.stringify(params)) return;
      if (!raised) makeRoom();
      alerts.set(key, {
        code,
        severity: ALERTS[code],
        subject: subject ?? null,
        since: raised?.since ?? toTimestamp(clock.now()),
        params,
      });
      onChanged();
    },
    clear(code, subject) {
      const cleared = [...alerts].filter(
        ([, alert]) => alert.code === code && (subject === undefined || alert.subject === subject),
      );
      for (const [key] of cleared) alerts.delete(key);
      if (cleared.length > 0) onChanged();
    },
    list() {
      const rank = ({ severity }: Alert) => (severity === 'critical' ? 0 : 1);
      return [...alerts.values()].toSorted((a, b) => rank(a) - rank(b) || a.since.localeCompare(b.since));
    },
  };
}
