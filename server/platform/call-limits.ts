// Limits calls per minute and caller address (contract, section 8), in bounded memory and without a timer.
import { isIPv6 } from 'node:net';
import type { Request, RequestHandler, Response } from 'express';
import ipaddr from 'ipaddr.js';
import type { Actor } from './call.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { CountCall, FailureLimit, MountOptions } from './mount.ts';
import { isCurrent, rateLimited, rateLimitHeaders, type RateWindow, secondsLeft } from './rate-limit.ts';
import { recentMap } from './recent-map.ts';
import type { SharedCounts } from './shared-counts.ts';

/** About 8 MB. Above this, the networks with the least recent calls are forgotten. */
const MAX_NETWORKS = 50_000;
/** Providers assign at least this much to each customer, who may use any address in it. */
const IPV6_PREFIX_BYTES = 56 / 8;
/** The longest IPv6 address in text. Anything longer comes from a forwarding header and is not an address. */
const MAX_ADDRESS_LENGTH = 45;

/** The key that calls are counted by: the IPv4 address, or the /56 of an IPv6 address. */
function networkOf(address = ''): string {
  if (!address.includes(':') || !isIPv6(address)) return address.slice(0, MAX_ADDRESS_LENGTH);
  const parsed = ipaddr.IPv6.parse(address);
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().toString();
  return parsed.toByteArray().slice(0, IPV6_PREFIX_BYTES).join('.');
}

interface CallWindow extends RateWindow {
  calls: number;
}

/** Counts calls per network in windows of a minute: `all` counts each call, and `failures` those that failed. */
function limitCalls(
  limitName: string,
  limit: number,
  { clock, addressOf, sharedCounts }: Pick<Needs, 'clock' | 'addressOf' | 'sharedCounts'>,
): { all: CountCall; failures: FailureLimit } {
  const windows = recentMap<string, CallWindow>(MAX_NETWORKS);

  function windowOf(network: string, now: number): CallWindow {
    const known = windows.get(network);
    if (known && isCurrent(known, now)) return known;
    const fresh: CallWindow = { startedAt: now, calls: 0 };
    windows.set(network, fresh);
    return fresh;
  }

  const share = sharedCounts.share(limitName, (network, calls) => {
    windowOf(network, clock.now()).calls += calls;
  });

  function countOne(request: Request, now: number): CallWindow {
    const network = networkOf(addressOf(request));
    const window = windowOf(network, now);
    window.calls += 1;
    share(network);
    return window;
  }

  function tell(response: Response, window: CallWindow, now: number): void {
    const seconds = secondsLeft(window, now);
    if (window.calls > limit) throw rateLimited(limit, 'calls', seconds);
    for (const [name, value] of Object.entries(rateLimitHeaders(limit, limit - window.calls, seconds)))
      response.setHeader(name, value);
  }

  return {
    all(request, response) {
      const now = clock.now();
      tell(response, countOne(request, now), now);
    },
    failures: {
      check(request, response) {
        const now = clock.now();
        const window = windowOf(networkOf(addressOf(request)), now);
        if (window.calls >= limit) throw rateLimited(limit, 'failed calls', secondsLeft(window, now));
        tell(response, window, now);
      },
      count(request) {
        countOne(request, clock.now());
      },
    },
  };
}

type Limits = Pick<Config, 'rateLimit' | 'rateLimitPublic' | 'rateLimitActivations'>;

/** `--rate-limit 0` disables every limit that is not set separately (contract, section 8). */
export function limitsInForce(config: Limits & Pick<Config, 'given'>): Limits {
  const inForce = (name: 'rateLimitPublic' | 'rateLimitActivations') =>
    config.rateLimit === 0 && config.given[name].source === 'default' ? 0 : config[name];
  return {
    rateLimit: config.rateLimit,
    rateLimitPublic: inForce('rateLimitPublic'),
    rateLimitActivations: inForce('rateLimitActivations'),
  };
}

export interface CallLimits {
  /** The limit for calls to this endpoint, if any. */
  forRow: NonNullable<MountOptions['limitFor']>;
  /** The limit for failed calls to this endpoint, if any. */
  forFailuresOf: NonNullable<MountOptions['failureLimitFor']>;
  /** For requests outside endpoints: documents and unknown paths. */
  elsewhere: RequestHandler;
  /**
   * Counts refused credentials by caller address. A call with a valid API token never counts, so that an integration
   * can process any number of licenses.
   */
  countRefusals(authenticate: MountOptions['authenticate']): MountOptions['authenticate'];
}

interface Needs {
  config: Limits & Pick<Config, 'given'>;
  clock: Clock;
  addressOf(request: Request): string | undefined;
  sharedCounts: SharedCounts;
}

export function createCallLimits({ config, ...needs }: Needs): CallLimits {
  const { rateLimit, rateLimitPublic } = limitsInForce(config);
  const limited = (name: string, limit: number) => (limit > 0 ? limitCalls(name, limit, needs) : undefined);
  const ownLimit = limited('own', rateLimit);
  const publicLimit = limited('public', rateLimitPublic);
  // Counted separately, because any number of calls may succeed on endpoints that limit only failures.
  const failedLimit = limited('failed', rateLimitPublic);

  const refused = (error: unknown, request: Request): never => {
    if (error instanceof ApiError && error.code === 'unauthorized')
      publicLimit?.all(request, request.res as Response);
    throw error;
  };

  return {
    forRow({ auth, rateLimit: kind = 'shared' }) {
      if (kind === 'own') return ownLimit?.all;
      return auth === 'public' && kind === 'shared' ? publicLimit?.all : undefined;
    },
    forFailuresOf: ({ rateLimit: kind }) => (kind === 'failures' ? failedLimit?.failures : undefined),
    elsewhere(request, response, next) {
      publicLimit?.all(request, response);
      next();
    },
    countRefusals: (authenticate) => (auth, request) => {
      const actor = authenticate(auth, request);
      if (!(actor instanceof Promise)) return actor;
      return actor.catch((error: unknown): Actor => refused(error, request));
    },
  };
}
