// Schemes of the app: made known before it is ready, answered afterwards.
import { isReady } from './lifecycle.ts';
import { strict } from './strict.ts';

type Handler = Parameters<Electron.Protocol['handle']>[1];

const privileged = new Set<string>();
const handlers = new Map<string, Handler>();

export const protocol = strict<Electron.Protocol>('protocol', {
  registerSchemesAsPrivileged(schemes) {
    if (isReady())
      throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
    for (const { scheme } of schemes) privileged.add(scheme);
  },
} satisfies Partial<Electron.Protocol>);

export const sessionProtocol = strict<Electron.Protocol>('session.protocol', {
  handle(scheme, handler) {
    if (handlers.has(scheme)) throw new Error(`The scheme '${scheme}' has been registered already`);
    handlers.set(scheme, handler);
  },
} satisfies Partial<Electron.Protocol>);

/** @returns null for what comes over the network */
export function serveScheme(url: string): Promise<Response> | null {
  const scheme = new URL(url).protocol.slice(0, -1);
  const handler = handlers.get(scheme);
  if (!handler) return null;
  if (!privileged.has(scheme))
    throw new Error(`the scheme ${scheme} has no origin: it was not registered in time`);
  return Promise.resolve(handler(new Request(url) as Parameters<Handler>[0])) as Promise<Response>;
}
