// Whether an address or host name reaches only the machine itself. Commands load this, so it uses no library.

/** `::ffff:127.0.0.1` is how a socket that accepts both families writes an IPv4 address. */
const LOOPBACK = /^(?:localhost|::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/iu;

export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}
