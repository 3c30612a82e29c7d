// Serves the stored CRL. Reads a new one from the database when there is one; never builds it on request.
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { Document } from '#server/platform/document.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { AuthorityService } from './authority-service.ts';
import type { certificateContract } from './certificate-contract.ts';
import { toPem } from './pem.ts';
import type { RevocationListRow, RevocationListStore } from './revocation-list-store.ts';
import { singleFlight } from '#server/platform/single-flight.ts';

const TYPES = {
  json: 'application/json',
  der: 'application/pkix-crl',
  pem: 'application/x-pem-file',
} as const;

type Format = keyof typeof TYPES;

/** Another server on the database may have built a CRL. This server knows its own CRLs immediately. */
const LOOK_AGAIN_MS = 1000;

interface Needs {
  lists: Pick<RevocationListStore, 'newest' | 'der' | 'json'>;
  authority: Pick<AuthorityService, 'current'>;
  clock: Clock;
  publishRevocations(): Promise<void>;
  /** Whether a revocation is missing from the CRL. */
  hasUnlisted(): Promise<boolean>;
}

interface Loaded extends RevocationListRow {
  /** Created on first use; null if a newer CRL has replaced this one. */
  documents: Record<Format, () => Promise<Document | null>>;
  written: Partial<Record<Format, Document>>;
}

function preferredFormat(call: Call): Format {
  const preferred = call.prefers(Object.values(TYPES) as [string, ...string[]]);
  return (Object.keys(TYPES) as Format[]).find((name) => TYPES[name] === preferred) ?? 'json';
}

export function createRevocationListService(needs: Needs) {
  const { lists, authority, clock } = needs;
  let loaded: Loaded | undefined;
  let lookedAt = -Infinity;

  /** One at a time, so that an older result never replaces a newer one. */
  const look = singleFlight(async () => {
    const found = await lists.newest();
    lookedAt = performance.now();
    if (found && found.number !== loaded?.number) loaded = withDocuments(found);
  });

  /** The next caller gets a CRL that has been built before this. */
  async function lookAgain(): Promise<void> {
    // A look in progress may have started before the CRL was built.
    await look.current()?.catch(() => {});
    lookedAt = -Infinity;
  }

  async function publish(): Promise<void> {
    await needs.publishRevocations();
    await lookAgain();
  }

  /**
   * A revocation committed shortly before a crash may be missing from the CRL. Nothing is served until it is listed, or
   * until the rebuild has had its time.
   */
  const listLeftovers = singleFlight(
    async () => {
      if (await needs.hasUnlisted()) await make();
    },
    { keepResult: true },
  );

  /** Builds the first CRL, or replaces one that expired while no server ran. */
  const make = singleFlight(async () => {
    await authority.current();
    await publish();
    await look();
  });

  /** Not expired, and not built while the clock was ahead: relying parties reject all certificates with such a CRL. */
  const isInForce = ({ thisUpdate, nextUpdate }: RevocationListRow): boolean => {
    const now = clock.now();
    return thisUpdate <= now && now < nextUpdate;
  };

  async function lookIfDue(): Promise<void> {
    if (performance.now() - lookedAt > LOOK_AGAIN_MS) await look();
  }

  async function newest(): Promise<Loaded> {
    await listLeftovers();
    await lookIfDue();
    if (!loaded || !isInForce(loaded)) await make();
    if (!loaded) throw new ApiError('unavailable', 'the CRL is still being built; retry in a moment');
    return loaded;
  }

  /** Makes none, because that would create the authority, too. */
  async function present(): Promise<Loaded> {
    await lookIfDue();
    if (!loaded || !isInForce(loaded)) throw new ApiError('unavailable', 'there is no current CRL yet');
    return loaded;
  }

  async function write(list: RevocationListRow, format: Format): Promise<Document | null> {
    const der = await lists.der(list.number);
    if (!der) return null;
    const options = { etag: `"${list.number}-${format}"`, cacheControl: 'no-cache' };
    if (format === 'der') return new Document(TYPES.der, der, options);
    const pem = toPem('X509 CRL', der);
    if (format === 'pem') return new Document(TYPES.pem, Buffer.from(pem), options);
    const head = JSON.stringify({
      ok: true,
      crl: pem,
      crl_number: list.number,
      built_at: toTimestamp(list.builtAt),
      this_update: toTimestamp(list.thisUpdate),
      next_update: toTimestamp(list.nextUpdate),
    });
    const body = Buffer.from(`${head.slice(0, -1)},"revoked":${await lists.json(list)}}`);
    return new Document('application/json; charset=utf-8', body, options);
  }

  function withDocuments(list: RevocationListRow): Loaded {
    const written = (format: Format) => singleFlight(() => write(list, format), { keepResult: true });
    return {
      ...list,
      documents: { json: written('json'), pem: written('pem'), der: written('der') },
      written: {},
    };
  }

  /** Fast path for most callers, which only check whether their copy is current. */
  function cachedDocument(format: Format): Document | undefined {
    const isKnown = loaded !== undefined && performance.now() - lookedAt <= LOOK_AGAIN_MS;
    return isKnown && isInForce(loaded as Loaded) ? loaded?.written[format] : undefined;
  }

  async function document(format: Format, isHead: boolean): Promise<Document> {
    for (;;) {
      const list = await (isHead ? present() : newest());
      const written = await list.documents[format]();
      if (written) {
        // A GET must list leftovers first.
        if (!isHead) list.written[format] = written;
        return written;
      }
      // A newer CRL replaced it meanwhile.
      lookedAt = -Infinity;
    }
  }

  return {
    /** Earlier revocations are in the CRL that is served after this. */
    publish,
    /** Call it when another server may have built a CRL. */
    lookAgain,
    /** The same, and resolves when this server serves that CRL. */
    async takeOver(): Promise<void> {
      await lookAgain();
      await look();
    },
    /** The newest CRL that this server has served or looked up; null if there was none. */
    servedNumber: (): number | null => loaded?.number ?? null,
    serve(
      { format: given }: RequestOf<typeof certificateContract.revocationList>,
      call: Call,
    ): Document | Promise<Document> {
      const format = given ?? preferredFormat(call);
      return cachedDocument(format) ?? document(format, call.isHead ?? false);
    },
  };
}

export type RevocationListService = ReturnType<typeof createRevocationListService>;
