// Why the server cannot listen on the configured address.
import { ConfigError } from './config.ts';

export type PortFlag = '--port' | '--admin-port';

interface Address {
  host: string;
  port: number;
  /** The setting that contains the port. */
  flag: PortFlag;
}

/** The server cannot listen on the configured address. */
export class AddressError extends ConfigError {
  override readonly name = 'AddressError';
  override readonly refusal = 'address';
  /** A port that the server could replace by another one; null for any other cause. */
  readonly taken: {
    setting: 'port' | 'admin-port';
    host: string;
    port: number;
    /** The system denies it, and no program uses it. */
    isDenied: boolean;
  } | null;

  constructor(message: string, taken: AddressError['taken']) {
    super(message);
    this.taken = taken;
  }
}

/** The machine has no such address, or its name does not resolve. */
const WRONG_HOST = new Set(['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN']);

function reasonOf({ code, message }: NodeJS.ErrnoException, platform: NodeJS.Platform): string {
  if (code === 'EADDRINUSE') return 'another program is using it';
  // Hyper-V, containers and administrators reserve ranges of ports (Microsoft Support, 3039044).
  if (code === 'EACCES' && platform === 'win32')
    return 'Windows reserves this port; `netsh interface ipv4 show excludedportrange protocol=tcp` lists all that it reserves; choose another port';
  return message;
}

export function addressError(
  error: NodeJS.ErrnoException,
  { host, port, flag }: Address,
  platform: NodeJS.Platform = process.platform,
): AddressError {
  const { code = '' } = error;
  const hostFlag = flag === '--port' ? '--host' : '--admin-host';
  const cause = WRONG_HOST.has(code) ? `${hostFlag} is "${host}"` : `${flag} is "${port}"`;
  const message = `${cause}, but the server cannot listen on ${host}:${port}: ${reasonOf(error, platform)}`;
  const setting = flag === '--port' ? 'port' : 'admin-port';
  const isDenied = code === 'EACCES';
  const isTaken = isDenied || code === 'EADDRINUSE';
  return new AddressError(message, isTaken ? { setting, host, port, isDenied } : null);
}
