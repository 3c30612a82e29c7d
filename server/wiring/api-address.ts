// The API's address as clients know it.
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import type { Config } from '#server/platform/config.ts';
import { listensOn } from '#server/platform/wildcard-host.ts';

type AddressSettings = Pick<Config, 'host' | 'tls' | 'baseUrl'>;

const LOOPBACK = { ipv4: '127.0.0.1', all: '::1' };

function origin({ tls }: AddressSettings, host: string, port: number): string {
  return `${tls.mode === 'off' ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** `http://127.0.0.1:8787`, for clients on this machine. @param port the actual port, if the setting is 0 */
export function listenerAddress(config: AddressSettings, port: number): string {
  const which = listensOn(config.host);
  return origin(config, which === 'one' ? config.host : LOOPBACK[which], port);
}

/**
 * Includes the API's root, without a trailing slash.
 * @param lanAddress where other machines reach a listener on every interface; null if it has no such address
 */
export function apiBaseUrl(config: AddressSettings, port: number, lanAddress: string | null): string {
  const listener = lanAddress === null ? listenerAddress(config, port) : origin(config, lanAddress, port);
  return `${config.baseUrl ?? listener}${PUBLIC_API_ROOT}`;
}
