// How much each listener takes on before it refuses.
import type { Express } from 'express';
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import type { HttpServerOptions } from '#server/platform/http-server.ts';
import { DEFAULT_SHEDDING } from '#server/platform/request-scheduler.ts';

type Bounds = Pick<HttpServerOptions, 'limits' | 'shedding'>;

/** Browsers, the CLI and the desktop app of one machine. Administrators are never shed. */
export const ADMIN_BOUNDS: Bounds = {
  limits: { total: 512, perAddress: 512, isProxy: () => false },
  shedding: null,
};

/** An idle connection costs about 10 kB. */
const API_CONNECTIONS = 8192;
/** A site behind one address may have a thousand devices, each with its connection kept for a minute. */
const API_CONNECTIONS_PER_ADDRESS = 2048;

/** Monitoring tells a busy server from a dead one. */
const NEVER_SHED: ReadonlySet<string> = new Set(
  ['/health', '/health/live', '/health/ready'].map((path) => PUBLIC_API_ROOT + path),
);

/** @param app knows which proxies are trusted */
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
