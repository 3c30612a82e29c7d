// What the page hears of while it is open: server-sent events, and so no row, as a row has one reply.

/** Below the admin listener's API root. */
export const LIVE_PATH = '/live/';

/** What may have changed; the names of what a screen shows. */
export const LIVE_TOPICS = [
  'licenses',
  'devices',
  'authorization_tokens',
  'certificates',
  'plans',
  'webhooks',
  'deliveries',
  'events',
  'api_tokens',
  'signing_keys',
  'settings',
  'sessions',
  'audit',
  'health',
  'alerts',
] as const;

export type LiveTopic = (typeof LIVE_TOPICS)[number];

/** `event: hello`, the first of each stream. Nothing is told of what changed before it. */
export interface LiveHello {
  version: string;
}

/** `event: change`, at most once a second. */
export interface LiveChange {
  topics: LiveTopic[];
}

/** `event: end`, the last of a stream that the server ends; a stream without it was cut off. */
export interface LiveEnd {
  reason: 'signed_out' | 'too_many_streams' | 'stopping';
}
