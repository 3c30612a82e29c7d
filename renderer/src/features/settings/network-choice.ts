// What the settings `host` and `tls` mean to people.

export type Reach = 'local' | 'network' | 'address';

const LOOPBACK = /^(?:localhost|::1|127\.\d+\.\d+\.\d+)$/iu;
const WILDCARD = /^(?:0\.0\.0\.0|::)$/u;

export function reachOf(host: string): Reach {
  if (LOOPBACK.test(host)) return 'local';
  return WILDCARD.test(host) ? 'network' : 'address';
}

export type TlsMode = 'auto' | 'files' | 'off';

export function tlsModeOf(tls: string): TlsMode {
  if (tls === 'auto') return 'auto';
  return tls.includes(',') ? 'files' : 'off';
}

/** `CERTIFICATE,KEY`; empty paths until they are entered. */
export function tlsFilesOf(tls: string): { certificate: string; key: string } {
  const comma = tls.indexOf(',');
  return comma === -1
    ? { certificate: '', key: '' }
    : { certificate: tls.slice(0, comma), key: tls.slice(comma + 1) };
}

interface Listener {
  host: string;
  port: string;
  tls: string;
  /** Of this machine on the network. */
  addresses: readonly string[];
}

/** Where clients reach the API. A port of 0 is chosen at the start, and left out here. */
export function listeningAddresses({ host, port, tls, addresses }: Listener): string[] {
  const scheme = tlsModeOf(tls) === 'off' ? 'http' : 'https';
  const reach = reachOf(host);
  const ipv4Only = host === '0.0.0.0';
  const names =
    reach === 'network' ? addresses.filter((address) => !ipv4Only || !address.includes(':')) : [host];
  return names.map((name) => {
    const bracketed = name.includes(':') ? `[${name}]` : name;
    return `${scheme}://${bracketed}${port === '0' ? '' : `:${port}`}`;
  });
}

/** Whether keys and tokens would cross the network readable to anyone on it. */
export function isUnencrypted(settings: { host: string; tls: string; baseUrl: string }): boolean {
  return (
    reachOf(settings.host) !== 'local' &&
    tlsModeOf(settings.tls) === 'off' &&
    !settings.baseUrl.startsWith('https:')
  );
}
