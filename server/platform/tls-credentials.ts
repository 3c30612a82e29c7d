// What a TLS listener shows its clients, and how that is replaced while the listener runs.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { certificateHolder, certificateLife } from './certificate-life.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { singleFlight } from './single-flight.ts';

/** In PEM. */
export interface TlsCredentials {
  /** The server's own comes first, then those between it and the authority that clients trust. */
  certificate: string;
  key: string;
}

export interface TlsSource {
  current(): TlsCredentials;
  /** @param take is handed what new connections are to be made with; may throw, and then all stays as it was */
  onChange(take: (credentials: TlsCredentials) => void): void;
  close(): Promise<void>;
}

interface Keeping {
  /** Checked. */
  first: TlsCredentials;
  /**
   * Looks for other ones, which are taken if they can be used.
   * @returns null if those in use are to stay
   * @throws Error with one line that says why there are none
   */
  look(inUse: TlsCredentials): Promise<TlsCredentials | null>;
  /** For the log. */
  setting: string;
  clock: Clock;
  logger: Logger;
}

const LOOK_EVERY_MS = 2000;

/**
 * @returns the server's own certificate
 * @throws Error with one line that says what is wrong
 */
export function checkCredentials({ certificate, key }: TlsCredentials): X509Certificate {
  const own = read('certificate', () => new X509Certificate(certificate));
  const privateKey = read('private key', () => createPrivateKey(key));
  if (!own.checkPrivateKey(privateKey)) throw new Error('the private key does not belong to the certificate');
  // Whatever else the listener could not be made with: a chain that is cut off, a key that is too small.
  read('chain of certificates', () => createSecureContext({ cert: certificate, key }));
  return own;
}

function read<Result>(what: string, reading: () => Result): Result {
  try {
    return reading();
  } catch (error) {
    throw new Error(`the ${what} cannot be used: ${(error as Error).message}`, { cause: error });
  }
}

/** Watches for other credentials until it is closed. What cannot be used is told of once, and waited for. */
export function keepCredentials({ first, look, setting, clock, logger }: Keeping): TlsSource {
  let inUse = first;
  let own = checkCredentials(first);
  let taking = (_credentials: TlsCredentials): void => {};
  let problem: string | null = null;
  let daysTold: number | null = null;

  function tellOfChange(): void {
    const about = {
      tls: setting,
      holder: certificateHolder(own),
      serial_number: own.serialNumber.toLowerCase(),
      not_after: new Date(own.validTo).toISOString(),
    };
    logger.info(about, 'TLS certificate in use');
  }

  /** Once a day. */
  function tellOfEnd(): void {
    const { state, daysLeft, text } = certificateLife(own, clock.now());
    if (state !== 'good' && daysLeft !== daysTold) {
      logger.warn({ tls: setting }, `the TLS certificate in use ${text}`);
    }
    daysTold = daysLeft;
  }

  async function takeOthers(): Promise<void> {
    const found = await look(inUse);
    if (found !== null) {
      const certificate = checkCredentials(found);
      taking(found);
      inUse = found;
      own = certificate;
      daysTold = null;
      tellOfChange();
    }
    problem = null;
  }

  async function lookOnce(): Promise<void> {
    try {
      await takeOthers();
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem) {
        logger.warn({ tls: setting, reason: message }, 'the TLS certificate stays as it was');
      }
      problem = message;
    }
    tellOfEnd();
  }

  const lookForNew = singleFlight(lookOnce);
  // By intervals, not by the moment at which something is due: a clock that is set, or a night asleep, changes nothing.
  const timer = setInterval(() => void lookForNew(), LOOK_EVERY_MS);
  timer.unref();
  tellOfChange();
  tellOfEnd();

  return {
    current: () => inUse,
    onChange(take) {
      taking = take;
    },
    async close() {
      clearInterval(timer);
      await lookForNew.current();
    },
  };
}
