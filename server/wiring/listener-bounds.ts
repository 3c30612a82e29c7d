// Load limits of each listener.
import type { Express } from 'express';
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import type { HttpServerOptions } from '#server/platform/http-server.ts';
import { DEFAULT_SHEDDING } from '#server/platform/request-scheduler.ts';

type Bounds = Pick<HttpServerOptions, 'limits' | 'shedding'>;

/** For browsers, the CLI and the desktop app on this machine. Administrators are never shed. */
export const ADMIN_BOUNDS: Bounds = {
  limits: { total: 512, perAddress: 512, isProxy: () => false },
  shedding: null,
};

/** An idle connection takes about 10 kB. */
const API_CONNECTIONS = 8192;
/** A site behind one address may have a thousand devices, each with a connection kept for a minute. */
const API_CONNECTIONS_PER_ADDRESS = 2048;

/** Monitoring must be able to distinguish a busy server from a dead one. */
const NEVER_SHED: ReadonlySet<string> = new Set(
  ['/health', '/health/live', '/health/ready'].map((path) => PUBLIC_API_ROOT + path),
);

/** @param app has the trusted proxies */
export function apiBounds(app: Express): Bounds {
  const trusts = app.get('trust proxy fn') as (address: string, hop: number) => boolean;
  return {
    limits: {
      total: API_CONNECTIONS,
      perAddress: API_CONNECTIONS_PER_ADDRESS,
      isProxy: (address) => trusts(address, 0),
    },
    shedding: {
      ...DEFAULT_SHEDDING,
      isExempt: (target) => NEVER_SHED.has(target.replace(/\/?(?:\?.*)?$/u, '').toLowerCase()),
    },
  };
}
