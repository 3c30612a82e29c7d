// Combinations of settings that are allowed but dangerous.
import type { SettingValues } from './config.ts';

/** The back office has a text for each. */
export const SETTING_WARNINGS = ['caller_address_forgeable'] as const;

export interface SettingWarning {
  code: (typeof SETTING_WARNINGS)[number];
  message: string;
}

const LOOPBACK = /^(?:localhost|::1|127\.\d+\.\d+\.\d+)$/iu;

/** Whether every peer is trusted as a proxy. */
function trustsEveryPeer(trustProxy: SettingValues['trustProxy']): boolean {
  return Array.isArray(trustProxy)
    ? trustProxy.some((network) => network.endsWith('/0'))
    : trustProxy !== false;
}

/** For the log, `doctor` and the settings screen. */
export function settingWarnings({
  host,
  trustProxy,
}: Pick<SettingValues, 'host' | 'trustProxy'>): SettingWarning[] {
  if (!trustsEveryPeer(trustProxy) || LOOPBACK.test(host)) return [];
  const message =
    `trust_proxy accepts the caller's address from every peer, and the API listens on ${host}: clients that reach its port ` +
    "directly can forge their address. Set trust_proxy to the proxies' addresses, or host to 127.0.0.1";
  return [{ code: 'caller_address_forgeable', message }];
}
