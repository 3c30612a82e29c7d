// Tells the administrator when something wants to be looked at: failed events, licenses about to end.
import { Notification } from 'electron';
import type { ServerStatus } from '../server/parent-port.ts';
import { texts } from './texts.ts';

interface Notice {
  title: string;
  /** Where the page shows it. */
  screen: string;
}

/**
 * What has got worse; what merely stays as it was has been told.
 * @param before null at the start
 */
function noticesOf(before: ServerStatus | null, now: ServerStatus): Notice[] {
  const { failedEvents, endingSoon } = texts();
  const notices: Notice[] = [];
  if (now.failed_deliveries > (before?.failed_deliveries ?? 0)) {
    notices.push({ title: failedEvents(now.failed_deliveries), screen: '/failed-events' });
  }
  if (now.ending_soon > (before?.ending_soon ?? 0)) {
    notices.push({ title: endingSoon(now.ending_soon), screen: '/licenses?expires_within_days=7' });
  }
  return notices;
}

interface Needs {
  isWanted(): boolean;
  /** Shows a screen of the page. */
  show(screen: string): void;
}

/** @returns to be called with each status that the server reports */
export function setUpAttention({ isWanted, show }: Needs): (status: ServerStatus) => void {
  let before: ServerStatus | null = null;
  /** Those that are shown: one that nobody holds may be collected, and its click is lost. */
  const shown = new Set<Notification>();

  return (status) => {
    const notices = noticesOf(before, status);
    before = status;
    if (!isWanted() || !Notification.isSupported()) return;
    for (const { title, screen } of notices) {
      const notification = new Notification({ title: 'License Desk', body: title });
      shown.add(notification);
      notification.once('click', () => show(screen));
      notification.once('close', () => shown.delete(notification));
      notification.show();
    }
  };
}
