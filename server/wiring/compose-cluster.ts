// Wires what servers on one database need of each other: a common clock, and messages.
import { watchClockSkew } from '#server/features/alerts/clock-skew-alert.ts';
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { LiveStreams } from '#server/features/live/live-streams.ts';
import type { PostgresWatch } from '#server/database/postgres-watch.ts';
import type { SharedTime } from '#server/platform/shared-time.ts';
import { createServerMessages, type ServerMessages } from './server-messages.ts';

interface Needs {
  /** Null for a server that shares its database with no other. */
  watch: PostgresWatch | null;
  sharedTime: SharedTime | null;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
}

export interface Cluster {
  messages: ServerMessages;
  /** Whether the clock of this machine is near enough to the clock of the database. */
  isClockNear(): boolean;
}

export function composeCluster({ watch, sharedTime, alerts }: Needs): Cluster {
  const skew = watchClockSkew(() => sharedTime?.skewMs() ?? 0, alerts);
  watch?.onReading(skew.check);
  return { messages: createServerMessages(watch), isClockNear: skew.isBearable };
}

/** Tells the listeners of all servers on the database what this one has changed. */
export function publishEverywhere(live: LiveStreams, messages: ServerMessages): LiveStreams {
  messages.listen(({ topics }) => live.publish(topics));
  return {
    ...live,
    publish(topics) {
      const changed = [...topics];
      live.publish(changed);
      messages.changed(changed);
    },
  };
}
