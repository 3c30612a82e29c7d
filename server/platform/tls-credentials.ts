// Certificate and key of a TLS listener, and their replacement while the listener runs.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { RuleReason } from '#server/wire/field-rules.ts';
import { certificateHolder, certificateLife } from './certificate-life.ts';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { RuleError } from './rule-error.ts';
import { singleFlight } from './single-flight.ts';

/** In PEM. */
export interface TlsCredentials {
  /** The server's certificate first, then those up to the authority that clients trust. */
  certificate: string;
  key: string;
}

export interface TlsSource {
  current(): TlsCredentials;
  /** @param take receives the credentials for new connections; if it throws, the previous ones stay in use */
  onChange(take: (credentials: TlsCredentials) => void): void;
  close(): Promise<void>;
}

interface Keeping {
  /** Already validated. */
  first: TlsCredentials;
  /**
   * Looks for new credentials, which are used if they are valid.
   * @returns null if the current ones stay
   * @throws Error with one line that says why they are unusable
   */
  look(inUse: TlsCredentials): Promise<TlsCredentials | null>;
  /** For the log. */
  setting: string;
  clock: Clock;
  logger: Logger;
}

const LOOK_EVERY_MS = 2000;

/**
 * @returns the server's certificate
 * @throws Error with one line that says what is wrong
 */
export function checkCredentials({ certificate, key }: TlsCredentials): X509Certificate {
  const own = read(
    'unreadable_certificate',
    'the certificate file contains no readable certificate in PEM format',
    () => new X509Certificate(certificate),
  );
  const privateKey = read(
    'not_a_private_key',
    'the key file contains no unencrypted private key in PEM format',
    () => createPrivateKey(key),
  );
  if (!own.checkPrivateKey(privateKey))
    throw new RuleError('the private key does not belong to the certificate', {
      reason: 'not_key_of_certificate',
    });
  // Detects other problems: an incomplete chain, a key that is too small.
  read('unusable_chain', 'the chain of certificates is not usable', () =>
    createSecureContext({ cert: certificate, key }),
  );
  return own;
}

function read<Result>(reason: RuleReason, problem: string, reading: () => Result): Result {
  try {
    return reading();
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    throw new RuleError(`${problem} (${message})`, { reason, values: { code } }, { cause: error });
  }
}

/** Watches for new credentials until closed. An error is logged once, and the watch continues. */
export function keepCredentials({ first, look, setting, clock, logger }: Keeping): TlsSource {
  let inUse = first;
  let own = checkCredentials(first);
  let taking = (_credentials: TlsCredentials): void => {};
  let problem: string | null = null;
  let daysTold: number | null = null;

  function logChange(): void {
    const about = {
      tls: setting,
      holder: certificateHolder(own),
      serial_number: own.serialNumber.toLowerCase(),
      not_after: new Date(own.validTo).toISOString(),
    };
    logger.info(about, 'TLS certificate in use');
  }

  /** Logs the expiry at most once a day. */
  function warnBeforeExpiry(): void {
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
      logChange();
    }
    problem = null;
  }

  async function lookOnce(): Promise<void> {
    try {
      await takeOthers();
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem) {
        logger.warn({ tls: setting, reason: message }, 'the TLS certificate was not replaced');
      }
      problem = message;
    }
    warnBeforeExpiry();
  }

  const lookForNew = singleFlight(lookOnce);
  // Checks at intervals rather than at a due time, so that clock changes and sleep do not matter.
  const timer = setInterval(() => void lookForNew(), LOOK_EVERY_MS);
  timer.unref();
  logChange();
  warnBeforeExpiry();

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
