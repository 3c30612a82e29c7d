// The certificate authority: made at first use, renewed before its end, or imported.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { currentTransaction } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/fields.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { type GivenAuthority, readGivenAuthority } from './authority-import.ts';
import type { AuthorityRow } from './authority-model.ts';
import { type Authority, toAuthority, toAuthorityObject } from './authority.ts';
import type { AuthorityStore } from './authority-store.ts';
import type { certificateAdminContract } from './certificate-contract.ts';
import type { CertificateStore } from './certificate-store.ts';
import { CLOCK_SKEW_MS, wholeSeconds, yearsLater } from './certificate-time.ts';
import { keyIdentifier, newSerial, readIssuer } from './issuer.ts';
import { generateRsaKey } from './key-pair.ts';
import { toPem } from './pem.ts';
import { systemCall } from './system-call.ts';
import { singleFlight } from '#server/platform/single-flight.ts';

/** What the private key is sealed for. */
const AUTHORITY_KEY = 'certificate-authority';
const KEY_BITS = 3072;
const YEARS = 10;
/** Of the key's identifier, so that two installations have different authorities. */
const NAME_DIGITS = 8;
/** So early that a certificate of two years never has to be cut short. */
const RENEW_BEFORE_MS = 731 * DAY_MS;

interface Needs {
  authorities: AuthorityStore;
  certificates: Pick<CertificateStore, 'countInForce'>;
  sealer: Sealer;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

export function createAuthorityService(needs: Needs) {
  const { authorities, sealer, audit, transaction, clock } = needs;
  const open = (row: AuthorityRow) => sealer.open(AUTHORITY_KEY, row.privateKeySealed);

  /** Every change makes a new active row, so its id tells whether this is still how things are. */
  let known: { active: Authority; all: Authority[]; until: number } | undefined;

  /** @returns null before the first use */
  async function find(): Promise<Authority | null> {
    const id = await authorities.activeId();
    if (id === null) return null;
    const now = clock.now();
    if (known?.active.id === id && now < known.until) return known.active;
    const rows = await authorities.list();
    const all = rows.map((row) => toAuthority(row, rows, open(row), now));
    const [active] = all;
    if (!active) throw new Error('the active authority is not there');
    // One that ends is no longer handed out with the others.
    const until = Math.min(...rows.map(({ notAfter }) => notAfter).filter((end) => end > now));
    // What a transaction sees may be rolled back, and its id be given to another row.
    if (!currentTransaction()) known = { active, all, until };
    return active;
  }

  async function mustFind(): Promise<Authority> {
    const authority = await find();
    if (!authority) throw new Error('there is no certificate authority yet');
    return authority;
  }

  /** Whether lists in the name of the one tell of certificates of the other. */
  const isSameIssuer = (before: Authority, given: GivenAuthority): boolean =>
    before.keyIdentifier === given.keyIdentifier && before.issuer.subject.equals(given.subject);

  /** A certificate for the key, signed with itself. @param privateKeyDer PKCS#8 */
  async function selfSigned(privateKeyDer: Buffer): Promise<GivenAuthority> {
    // The library that builds certificates is loaded when the first one is built.
    const { buildAuthorityCertificate } = await import('./certificate-builder.ts');
    const now = clock.now();
    const privateKey = createPrivateKey({ key: privateKeyDer, format: 'der', type: 'pkcs8' });
    const publicKey = createPublicKey(privateKey);
    const identifier = keyIdentifier(publicKey).toString('hex');
    const notAfter = wholeSeconds(yearsLater(now, YEARS));
    const certificate = buildAuthorityCertificate({
      names: {
        commonName: `License Desk CA ${identifier.slice(0, NAME_DIGITS)}`,
        organization: 'License Desk',
      },
      serial: newSerial(),
      notBefore: wholeSeconds(now - CLOCK_SKEW_MS),
      notAfter,
      publicKey,
      privateKey,
    });
    return {
      subject: readIssuer(certificate).subject,
      keyIdentifier: identifier,
      certificate: toPem('CERTIFICATE', certificate),
      chain: '',
      notAfter,
      privateKeyDer,
    };
  }

  /** Inside a transaction. */
  async function activate(given: GivenAuthority, origin: 'made' | 'imported'): Promise<Authority> {
    await authorities.retireActive();
    await authorities.insert({
      keyIdentifier: given.keyIdentifier,
      certificate: given.certificate,
      chain: given.chain,
      privateKeySealed: sealer.seal(AUTHORITY_KEY, given.privateKeyDer),
      notAfter: given.notAfter,
      origin,
      status: 'active',
      createdAt: clock.now(),
    });
    return mustFind();
  }

  async function record(call: Call, action: string, before: Authority | null, after: Authority) {
    const subject = `authority:${after.keyIdentifier}`;
    const state = (authority: Authority) => {
      const { ca_certificate: _pem, ...rest } = toAuthorityObject(authority);
      return rest;
    };
    await audit.record(call, action, subject, before && state(before), state(after));
  }

  const make = singleFlight(async (): Promise<Authority> => {
    const { privateKeyDer } = await generateRsaKey(KEY_BITS);
    const made = await selfSigned(privateKeyDer);
    return transaction(async () => {
      // Another server may have been first.
      const existing = await find();
      if (existing) return existing;
      const authority = await activate(made, 'made');
      await record(systemCall(), 'authority.made', null, authority);
      return authority;
    });
  });

  const renew = (call: Call, isDue: (authority: Authority) => boolean): Promise<Authority | null> =>
    transaction(async () => {
      await authorities.lockActive('UPDATE');
      const before = await mustFind();
      if (!isDue(before)) return null;
      if (before.origin === 'imported') {
        throw new ApiError(
          'invalid_request',
          'an imported authority is renewed by whoever made it; import its new certificate with the same key',
        );
      }
      const row = (await authorities.list())[0] as AuthorityRow;
      const after = await activate(await selfSigned(open(row)), 'made');
      await record(call, 'authority.renewed', before, after);
      return after;
    });

  async function current(): Promise<Authority> {
    const authority = await find();
    if (authority) return authority;
    return make();
  }

  return {
    find,
    /** Makes it at its first use, which takes a moment: not inside a transaction. */
    current,
    /** The same inside a transaction, until whose end nothing takes its place. */
    async hold(): Promise<Authority> {
      await authorities.lockActive('SHARE');
      return mustFind();
    },
    /** Every certificate that an authority of this service has ever had. */
    async all(): Promise<readonly Authority[]> {
      return (await find()) === null ? [] : (known?.all ?? []);
    },
    async show() {
      return { authority: toAuthorityObject(await current()) };
    },
    /** The key and the name stay, so that everything issued before chains to the new certificate too. */
    async renew(call: Call) {
      await current();
      const renewed = await renew(call, () => true);
      return { authority: toAuthorityObject(renewed ?? (await mustFind())) };
    },
    /** Before the end comes near. @returns whether it was due */
    async renewIfDue(): Promise<boolean> {
      const isDue = ({ origin, notAfter }: Authority) =>
        origin === 'made' && notAfter - clock.now() < RENEW_BEFORE_MS;
      const authority = await find();
      if (!authority || !isDue(authority)) return false;
      return (await renew(systemCall(), isDue)) !== null;
    },
    /** @throws ApiError `authority_in_use` while certificates of another are in force: no list could revoke them */
    async import(request: RequestOf<typeof certificateAdminContract.importAuthority>, call: Call) {
      const now = clock.now();
      const given = readGivenAuthority(request, now);
      return transaction(async () => {
        // What is being issued is waited for, so that it is counted.
        await authorities.lockActive('UPDATE');
        const before = await find();
        if (before && !isSameIssuer(before, given)) {
          const inForce = await needs.certificates.countInForce(before.keyIdentifier, now);
          if (inForce > 0) {
            const message = `certificates of the present authority are in force (${inForce}); revoke them first`;
            throw new ApiError('authority_in_use', message);
          }
        }
        const after = await activate(given, 'imported');
        await record(call, 'authority.imported', before, after);
        return { authority: toAuthorityObject(after) };
      });
    },
  };
}

export type AuthorityService = ReturnType<typeof createAuthorityService>;
