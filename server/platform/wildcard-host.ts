// Whether a listener accepts connections on every address of the machine. Commands load this, so it uses no library.
import { isIPv6 } from 'node:net';

/** Which addresses of the machine a listener on `host` accepts connections on. */
export function listensOn(host: string): 'one' | 'ipv4' | 'all' {
  // A URL has one spelling of each address: `0` is 0.0.0.0, and 0:0:0:0:0:0:0:0 is ::.
  const url = `http://${isIPv6(host) ? `[${host}]` : host}/`;
  const hostname = URL.canParse(url) ? new URL(url).hostname : host;
  if (hostname === '0.0.0.0') return 'ipv4';
  return hostname === '[::]' ? 'all' : 'one';
}
