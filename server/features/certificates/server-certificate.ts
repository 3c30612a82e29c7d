// The server's TLS certificate, issued by the built-in authority and replaced before it expires.
import { X509Certificate } from 'node:crypto';
import type { Clock } from '#server/platform/clock.ts';
import { ConfigError } from '#server/platform/config.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { keepCredentials, type TlsSource } from '#server/platform/tls-credentials.ts';
import type { AuthorityService } from './authority-service.ts';
import type { Authority } from './authority.ts';
import { CLOCK_SKEW_MS, wholeSeconds } from './certificate-time.ts';
import { oneLine } from './distinguished-name.ts';
import { authorityWithout } from './extended-key-usage.ts';
import { newSerial } from './issuer.ts';
import { generateEcKey } from './key-pair.ts';
import { authorityWithoutHost } from './name-constraints.ts';
import { certificateBlocks, toPem } from './pem.ts';
import {
  readServerCertificate,
  type ServerCertificate,
  toCredentials,
  writeServerCertificate,
} from './server-certificate-file.ts';
import type { ServerNames } from './server-names.ts';

const LIFE_MS = 90 * DAY_MS;
/** The certificate is replaced when less than this share of its lifetime is left. */
const SPARE_PART = 1 / 3;

interface Needs {
  dataDir: string;
  authority: Pick<AuthorityService, 'current'>;
  sealer: Sealer;
  clock: Clock;
  logger: Logger;
  /** Evaluated on each call, because addresses change. */
  names(): ServerNames;
}

interface ServerCertificateFacts {
  authority: Pick<Authority, 'id' | 'certificate' | 'notAfter'>;
  hosts: readonly string[];
  /** Epoch milliseconds. */
  now: number;
}

/** Every change of the authority adds a row. The fingerprint also distinguishes rows of different databases. */
export function authorityMark({ id, certificate }: ServerCertificateFacts['authority']): string {
  return `${id} ${certificate.fingerprint256}`;
}

function endOf(now: number, { notAfter }: ServerCertificateFacts['authority']): number {
  return Math.min(wholeSeconds(now + LIFE_MS), notAfter);
}

/** @returns null if a new certificate would be no better */
export function reasonToReplace(
  inUse: Omit<ServerCertificate, 'privateKeyDer'>,
  { authority, hosts, now }: ServerCertificateFacts,
): string | null {
  if (inUse.authority !== authorityMark(authority)) return 'the authority has a new certificate';
  if (inUse.hosts.join() !== hosts.join()) return 'the names or addresses of this server have changed';
  const { validFrom, validTo } = new X509Certificate(inUse.certificate);
  const [start, end] = [Date.parse(validFrom), Date.parse(validTo)];
  if (now < start) return 'it is not valid yet';
  // If the authority itself is about to expire, a new certificate would not last longer.
  const isOld = end - now < (end - start) * SPARE_PART && end < endOf(now, authority);
  return isOld ? 'it expires soon' : null;
}

const isRoot = (certificate: X509Certificate) => certificate.checkIssued(certificate);

/** The authority and those above it, up to the root if it is known. */
function chainOf({ certificate, pem }: Pick<Authority, 'certificate' | 'pem'>): X509Certificate[] {
  const chain: X509Certificate[] = [];
  const others = certificateBlocks(pem).map((block) => new X509Certificate(block));
  let next: X509Certificate | undefined = certificate;
  while (next && !chain.includes(next)) {
    const below: X509Certificate = next;
    chain.push(below);
    next = isRoot(below)
      ? undefined
      : others.find((above) => below.checkIssued(above) && below.verify(above.publicKey));
  }
  return chain;
}

/** PEM of the authority and those above it, without the self-signed root, which clients have. */
export function intermediates(authority: Pick<Authority, 'certificate' | 'pem'>): string {
  return chainOf(authority)
    .filter((certificate) => !isRoot(certificate))
    .map(({ raw }) => toPem('CERTIFICATE', raw))
    .join('');
}

/** An imported authority may be for client certificates only, or for other names. */
function requireServerPurpose(authority: Authority, { hosts }: ServerNames): void {
  const refuse = (what: string, reason: string): never => {
    throw new ConfigError(
      `--tls is "auto", but the certificate authority allows no ${what}: ${reason}; import another authority, or set --tls to CERT,KEY`,
    );
  };
  const chain = chainOf(authority);
  const found = authorityWithout('serverAuth', chain);
  if (found)
    refuse('server certificates', `the extended key usage of ${oneLine(found.subject)} lacks serverAuth`);
  const limited = authorityWithoutHost(chain, hosts);
  if (limited)
    refuse(
      'certificate for this server',
      `the name constraints of ${oneLine(limited.authority.subject)} do not permit ${limited.host}`,
    );
}

/**
 * Opens the stored certificate or issues one, and replaces it whenever there is a reason to.
 * @throws ConfigError if there is none and the authority cannot issue one
 */
export async function openServerCertificate(needs: Needs): Promise<TlsSource> {
  const { dataDir, sealer, clock, logger } = needs;

  async function make(authority: Authority, { commonName, hosts }: ServerNames): Promise<ServerCertificate> {
    const now = clock.now();
    const notAfter = endOf(now, authority);
    if (notAfter <= now) {
      const ended = new Date(authority.notAfter).toISOString();
      throw new ConfigError(
        `--tls is "auto", but the certificate authority expired on ${ended}; import its new certificate`,
      );
    }
    const { publicKey, privateKeyDer } = await generateEcKey();
    // The certificate builder is loaded on first use, to keep the start fast.
    const { buildServerCertificate } = await import('./certificate-builder.ts');
    const own = buildServerCertificate({
      issuer: authority.issuer,
      serial: newSerial(),
      notBefore: wholeSeconds(now - CLOCK_SKEW_MS),
      notAfter,
      publicKey,
      commonName,
      hosts,
    });
    const certificate = toPem('CERTIFICATE', own) + intermediates(authority);
    return { certificate, privateKeyDer, authority: authorityMark(authority), hosts };
  }

  function readKept(): ServerCertificate | null {
    try {
      return readServerCertificate(dataDir, sealer);
    } catch (error) {
      logger.warn({ err: error as Error }, 'the stored TLS certificate is unusable');
      return null;
    }
  }

  function keep(made: ServerCertificate): void {
    try {
      writeServerCertificate(dataDir, sealer, made);
    } catch (error) {
      // The certificate still works; the next start issues another one.
      logger.warn({ err: error as Error }, 'cannot store the TLS certificate');
    }
  }

  let inUse = readKept();

  /** @returns null if the certificate can stay */
  async function replace(): Promise<ServerCertificate | null> {
    const authority = await needs.authority.current();
    const names = needs.names();
    requireServerPurpose(authority, names);
    const circumstances = { authority, hosts: names.hosts, now: clock.now() };
    const reason = inUse ? reasonToReplace(inUse, circumstances) : 'no stored certificate';
    if (reason === null) return null;
    inUse = await make(authority, names);
    keep(inUse);
    logger.info({ reason, hosts: inUse.hosts }, 'issued a TLS certificate');
    return inUse;
  }

  async function first(): Promise<ServerCertificate> {
    const kept = inUse;
    try {
      const made = await replace();
      if (made) return made;
    } catch (error) {
      // An outdated certificate is better than no service. The error is logged.
      if (!kept || !(error instanceof ConfigError)) throw error;
    }
    return kept as ServerCertificate;
  }

  return keepCredentials({
    first: toCredentials(await first()),
    async look() {
      const made = await replace();
      return made && toCredentials(made);
    },
    setting: 'auto',
    clock,
    logger,
  });
}
