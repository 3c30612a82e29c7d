// The certificate authority: created at first use, renewed before it expires, or imported.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { currentTransaction } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { Sealer } from '#server/platform/sealer.ts';
import { type GivenAuthority, readGivenAuthority } from './authority-import.ts';
import type { AuthorityRow } from './authority-model.ts';
import { type Authority, toAuthority, toAuthorityObject } from './authority.ts';
import type { AuthorityStore } from './authority-store.ts';
import type { AuthorityKeyType } from './certificate-state-contract.ts';
import type { certificateAdminContract } from './certificate-contract.ts';
import type { CertificateStore } from './certificate-store.ts';
import { CLOCK_SKEW_MS, wholeSeconds, yearsLater } from './certificate-time.ts';
import { keyIdentifier, newSerial, readIssuer } from './issuer.ts';
import { generateEcKey, generateRsaKey } from './key-pair.ts';
import { toPem } from './pem.ts';
import { systemCall } from './system-call.ts';
import { singleFlight } from '#server/platform/single-flight.ts';

/** The purpose that the private key is sealed for. */
const AUTHORITY_KEY = 'certificate-authority';
const RSA_BITS = 3072;
const YEARS = 10;
/** Digits of the key identifier in the name, so that two installations have different names. */
const NAME_DIGITS = 8;
/** Early enough that a two-year certificate never has to be shortened. */
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

  /** Every change inserts a new active row, so a matching ID shows that this is current. */
  let known: { active: Authority; all: Authority[]; until: number } | undefined;

  /** @returns null before the first use */
  async function find(readId = authorities.activeId): Promise<Authority | null> {
    const id = await readId();
    if (id === null) return null;
    const now = clock.now();
    if (known?.active.id === id && now < known.until) return known.active;
    const rows = await authorities.list();
    const all = rows.map((row) => toAuthority(row, rows, open(row), now));
    const [active] = all;
    if (!active) throw new Error('the active certificate authority is missing');
    // The cache expires with the first certificate, because expired ones are not handed out.
    const until = Math.min(...rows.map(({ notAfter }) => notAfter).filter((end) => end > now));
    // A transaction may be rolled back and its ID reused for another row.
    if (!currentTransaction()) known = { active, all, until };
    return active;
  }

  async function mustFind(readId = authorities.activeId): Promise<Authority> {
    const authority = await find(readId);
    if (!authority) throw new Error('no certificate authority exists yet');
    return authority;
  }

  /** Whether CRLs issued in the name of one also cover certificates of the other. */
  const isSameIssuer = (before: Authority, given: GivenAuthority): boolean =>
    before.keyIdentifier === given.keyIdentifier && before.issuer.subject.equals(given.subject);

  /** Creates a self-signed certificate for the key. @param privateKeyDer PKCS#8 @param least it does not end before this */
  async function selfSigned(privateKeyDer: Buffer, least = 0): Promise<GivenAuthority> {
    // The certificate builder is loaded on first use, to keep the start fast.
    const { buildAuthorityCertificate } = await import('./certificate-builder.ts');
    const now = clock.now();
    const privateKey = createPrivateKey({ key: privateKeyDer, format: 'der', type: 'pkcs8' });
    const publicKey = createPublicKey(privateKey);
    const identifier = keyIdentifier(publicKey).toString('hex');
    const notAfter = Math.max(wholeSeconds(yearsLater(now, YEARS)), least);
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

  /** Requires a transaction. */
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

  async function draft(keyType: AuthorityKeyType): Promise<GivenAuthority> {
    const { privateKeyDer } = await (keyType === 'p-256' ? generateEcKey() : generateRsaKey(RSA_BITS));
    return selfSigned(privateKeyDer);
  }

  /** No CRL could revoke its certificates afterwards. @throws ApiError `authority_in_use` */
  async function refuseIfInUse({ keyIdentifier: key }: Authority): Promise<void> {
    const inForce = await needs.certificates.countInForce(key, clock.now());
    if (inForce === 0) return;
    const message = `certificates of the current authority are still valid (${inForce}); revoke them first`;
    throw new ApiError('authority_in_use', message);
  }

  /** Makes an authority with a new key if there is none, or if the current one is to be replaced. */
  async function makeNew(
    call: Call,
    keyType: AuthorityKeyType,
    isToReplace: (authority: Authority) => boolean,
  ): Promise<Authority> {
    const made = await draft(keyType);
    return transaction(async () => {
      await authorities.lockActive('UPDATE');
      // Another server may have created it first.
      const before = await find();
      if (before && !isToReplace(before)) return before;
      if (before) await refuseIfInUse(before);
      const authority = await activate(made, 'made');
      await record(call, 'authority.made', before, authority);
      return authority;
    });
  }

  const make = singleFlight(() => makeNew(systemCall(), 'rsa-3072', () => false));

  const renew = (call: Call, isDue: (authority: Authority) => boolean): Promise<Authority | null> =>
    transaction(async () => {
      await authorities.lockActive('UPDATE');
      const before = await mustFind();
      if (!isDue(before)) return null;
      if (before.origin === 'imported') {
        throw new ApiError(
          'invalid_request',
          'an imported authority cannot be renewed here; import a new certificate for the same key',
        );
      }
      const row = (await authorities.list())[0] as AuthorityRow;
      // While the clock is behind, ten years from now may be over before certificates that were issued earlier.
      const after = await activate(await selfSigned(open(row), before.notAfter), 'made');
      await record(call, 'authority.renewed', before, after);
      return after;
    });

  /** Well before expiry, or if the clock was ahead when it was made: relying parties reject its certificates until then. */
  const isRenewalDue = ({ origin, notAfter, certificate }: Authority): boolean =>
    origin === 'made' &&
    (notAfter - clock.now() < RENEW_BEFORE_MS || Date.parse(certificate.validFrom) > clock.now());

  async function current(): Promise<Authority> {
    const authority = await find();
    if (authority) return authority;
    return make();
  }

  return {
    find: () => find(),
    /** Creates the authority at first use, which takes a moment. Do not call it inside a transaction. */
    current,
    /** The same in the first read of a change, and locks the authority until the transaction ends. */
    async hold(): Promise<Authority> {
      await authorities.lockActive('SHARE');
      return mustFind(authorities.activeIdFirst);
    },
    /** Every certificate that the authorities of this service have had. */
    async all(): Promise<readonly Authority[]> {
      return (await find()) === null ? [] : (known?.all ?? []);
    },
    async show() {
      return { authority: toAuthorityObject(await current()) };
    },
    /**
     * Keeps key and name, so that previously issued certificates chain to the new certificate too. With another type of
     * key, or one of an imported authority, makes a new authority.
     * @throws ApiError `authority_in_use` if that is needed while certificates of the current authority are valid
     */
    async renew(
      { key_type: keyType }: RequestOf<typeof certificateAdminContract.renewAuthority>,
      call: Call,
    ) {
      if (keyType !== undefined) {
        const hasOtherKey = (authority: Authority) =>
          authority.origin === 'imported' || authority.keyType !== keyType;
        const before = await find();
        if (!before || hasOtherKey(before))
          return { authority: toAuthorityObject(await makeNew(call, keyType, hasOtherKey)) };
      }
      await current();
      const renewed = await renew(call, () => true);
      return { authority: toAuthorityObject(renewed ?? (await mustFind())) };
    },
    isRenewalDue,
    /** @returns whether renewal was due */
    async renewIfDue(): Promise<boolean> {
      const authority = await find();
      if (!authority || !isRenewalDue(authority)) return false;
      return (await renew(systemCall(), isRenewalDue)) !== null;
    },
    /**
     * @throws ApiError `authority_in_use` while certificates of another authority are valid: no CRL could revoke them
     */
    async import(request: RequestOf<typeof certificateAdminContract.importAuthority>, call: Call) {
      const given = readGivenAuthority(request, clock.now());
      return transaction(async () => {
        // Waits for certificates that are being issued, so that they are counted.
        await authorities.lockActive('UPDATE');
        const before = await find();
        if (before && !isSameIssuer(before, given)) await refuseIfInUse(before);
        const after = await activate(given, 'imported');
        await record(call, 'authority.imported', before, after);
        return { authority: toAuthorityObject(after) };
      });
    },
  };
}

export type AuthorityService = ReturnType<typeof createAuthorityService>;
