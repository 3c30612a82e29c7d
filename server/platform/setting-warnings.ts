// Combinations of settings that are allowed but dangerous.
import type { SettingValues } from './config.ts';
import { isLoopback } from './loopback.ts';
import { listensOn } from './wildcard-host.ts';

/** The back office has a text for each. */
export const SETTING_WARNINGS = [
  'caller_address_forgeable',
  'base_url_derived',
  'api_unencrypted',
  'admin_unencrypted',
] as const;

export interface SettingWarning {
  code: (typeof SETTING_WARNINGS)[number];
  message: string;
}

type Values = Pick<SettingValues, 'host' | 'trustProxy' | 'baseUrl' | 'tls' | 'adminHost'>;

const MESSAGES: Record<SettingWarning['code'], (values: Values) => string | null> = {
  caller_address_forgeable: ({ host, trustProxy }) =>
    typeof trustProxy !== 'number' || isLoopback(host)
      ? null
      : `trust_proxy accepts the caller's address from every peer, and the API listens on ${host}: clients that reach its port ` +
        "directly can forge their address. Set trust_proxy to the proxies' addresses, or host to 127.0.0.1",
  base_url_derived: ({ host, baseUrl }) =>
    baseUrl !== null || listensOn(host) === 'one'
      ? null
      : `the API listens on ${host} and base_url is not set: certificates, download links and the API reference contain ` +
        'an address of this machine, which may change. Set base_url to the address that clients use',
  api_unencrypted: ({ host, baseUrl, tls }) =>
    tls.mode !== 'off' || isLoopback(host) || baseUrl?.startsWith('https:')
      ? null
      : `the API listens on ${host} without TLS: license keys and API tokens cross the network unencrypted. Set tls to ` +
        'auto, or put a TLS proxy in front and set base_url to its https address',
  admin_unencrypted: ({ adminHost }) =>
    isLoopback(adminHost)
      ? null
      : `the back office listens on ${adminHost} without TLS: between the proxy and this server, the session cookies of ` +
        'administrators cross the network unencrypted. Run the proxy on this machine and set admin_host to 127.0.0.1, or ' +
        'connect the two over a network that no other machine uses',
};

/** For the log, `doctor`, the alerts and the settings screen. */
export function settingWarnings(values: Values): SettingWarning[] {
  return SETTING_WARNINGS.flatMap((code) => {
    const message = MESSAGES[code](values);
    return message === null ? [] : [{ code, message }];
  });
}
