// Raises an alert while log lines are lost, and for some time after.
import type { DroppedLines } from '#server/platform/dropped-lines.ts';
import type { AlertBoard } from './alert-board.ts';

/** Delay between the first dropped line and the alert. */
const RAISE_AFTER_MS = 1000;
/** Long enough to be seen by an administrator who checks occasionally. */
const CLEAR_AFTER_MS = 3_600_000;

interface Episode {
  count: number;
  raising: NodeJS.Timeout | undefined;
  clearing: NodeJS.Timeout | undefined;
}

/** One alert per log destination, cleared an hour after the last lost line. */
export function raiseLogDrops(dropped: DroppedLines, alerts: Pick<AlertBoard, 'raise' | 'clear'>): void {
  const episodes = new Map<string, Episode>();
  dropped.listen((destination, count) => {
    const episode = episodes.get(destination) ?? { count: 0, raising: undefined, clearing: undefined };
    episodes.set(destination, episode);
    episode.count += count;
    episode.raising ??= setTimeout(() => {
      episode.raising = undefined;
      alerts.raise('log_lines_dropped', { subject: destination, params: { count: episode.count } });
    }, RAISE_AFTER_MS).unref();
    clearTimeout(episode.clearing);
    episode.clearing = setTimeout(() => {
      episodes.delete(destination);
      alerts.clear('log_lines_dropped', destination);
    }, CLEAR_AFTER_MS).unref();
  });
}
