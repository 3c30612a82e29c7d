// Live updates of the back office: server-sent events, which are not an endpoint row because a row has one reply.

/** Below the admin listener's API root. */
export const LIVE_PATH = '/live/';

/** What may have changed, named by what screens show. */
export const LIVE_TOPICS = [
  'licenses',
  'devices',
  'leases',
  'denials',
  'authorization_tokens',
  'certificates',
  'plans',
  'webhooks',
  'deliveries',
  'events',
  'api_tokens',
  'signing_keys',
  'settings',
  'servers',
  'lease_rules',
  'sessions',
  'audit',
  'health',
  'alerts',
] as const;

export type LiveTopic = (typeof LIVE_TOPICS)[number];

/** `event: hello`, the first of each stream. Earlier changes are not reported. */
export interface LiveHello {
  version: string;
  /** Milliseconds since the last known change. Replies to calls of this time are current. */
  unchanged_ms: number;
}

/** `event: change`, at most once a second. */
export interface LiveChange {
  topics: LiveTopic[];
}

/** `event: end`, the last of a stream that the server ends. A stream without it was interrupted. */
export interface LiveEnd {
  reason: 'signed_out' | 'too_many_streams' | 'stopping';
}
