// The API's address as clients know it.
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import type { Config } from '#server/platform/config.ts';

type AddressSettings = Pick<Config, 'host' | 'tls' | 'baseUrl'>;

function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** `http://127.0.0.1:8787`. @param port the actual port, if the setting is 0 */
export function listenerAddress({ host, tls }: AddressSettings, port: number): string {
  return `${tls.mode === 'off' ? 'http' : 'https'}://${hostInUrl(host)}:${port}`;
}

/** Includes the API's root, without a trailing slash. */
export function apiBaseUrl(config: AddressSettings, port: number): string {
  return `${config.baseUrl ?? listenerAddress(config, port)}${PUBLIC_API_ROOT}`;
}
