// Notifies the administrator about failed deliveries and licenses that expire soon.
import { Notification } from 'electron';
import type { ServerStatus } from '#server/features/overview/server-status.ts';
import { texts } from './texts.ts';

/** Windows reports a click twice where the notification still exists, within this time and in no fixed order. */
const SAME_CLICK_MS = 250;

interface Notice {
  title: string;
  /** The screen of the page that shows it. */
  screen: string;
}

/**
 * Returns what is worse than before. Conditions that were already reported are left out.
 * @param before null at the start
 */
function noticesOf(before: ServerStatus | null, now: ServerStatus): Notice[] {
  const { failedDeliveries, expiringSoon } = texts();
  const notices: Notice[] = [];
  if (now.failed_deliveries > (before?.failed_deliveries ?? 0)) {
    notices.push({ title: failedDeliveries(now.failed_deliveries), screen: '/failed-events' });
  }
  if (now.ending_soon > (before?.ending_soon ?? 0)) {
    notices.push({ title: expiringSoon(now.ending_soon), screen: '/licenses?expires_within_days=7' });
  }
  return notices;
}

interface Needs {
  isWanted(): boolean;
  /** Shows a screen of the page. */
  show(screen: string): void;
}

/**
 * Windows drops the object of a notification that times out, together with its click in the Action Center. The
 * remaining event does not identify the notification, so this opens the newest one.
 * @returns call it for each click that a notification itself reports
 */
function watchActionCenter(showNewest: () => void): () => void {
  if (process.platform !== 'win32') return () => {};
  /** Clicks whose activation event is still to come, and activation events without a matching click. */
  let early = 0;
  const unclaimed: NodeJS.Timeout[] = [];
  Notification.handleActivation(() => {
    if (early > 0) {
      early -= 1;
      return;
    }
    const show = () => {
      unclaimed.shift();
      showNewest();
    };
    unclaimed.push(setTimeout(show, SAME_CLICK_MS));
  });
  return () => {
    const activation = unclaimed.shift();
    if (activation) clearTimeout(activation);
    else early += 1;
  };
}

/** @returns call it with each status that the server reports */
export function setUpAttention({ isWanted, show }: Needs): (status: ServerStatus) => void {
  let before: ServerStatus | null = null;
  let newest = '/';
  /** Without a reference, a notification may be garbage-collected and its click lost. */
  const shown = new Set<Notification>();
  const clicked = watchActionCenter(() => show(newest));

  return (status) => {
    const notices = noticesOf(before, status);
    before = status;
    if (!isWanted() || !Notification.isSupported()) return;
    for (const { title, screen } of notices) {
      const notification = new Notification({ title: 'License Desk', body: title });
      newest = screen;
      shown.add(notification);
      notification.once('click', () => {
        clicked();
        show(screen);
      });
      notification.once('close', () => shown.delete(notification));
      notification.show();
    }
  };
}
