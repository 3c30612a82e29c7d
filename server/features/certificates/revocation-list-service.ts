// Serves the stored revocation list: read from the database when there is a new one, and never built on request.
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

/** Another server on the same database may have made a list; its own this one hears of at once. */
const LOOK_AGAIN_MS = 1000;

interface Needs {
  lists: Pick<RevocationListStore, 'newest' | 'der' | 'json'>;
  authority: Pick<AuthorityService, 'current'>;
  clock: Clock;
  publishRevocations(): Promise<void>;
  /** Whether a revocation is on no list yet. */
  hasUnlisted(): Promise<boolean>;
}

interface Loaded extends RevocationListRow {
  /** Made when they are first asked for; null if a newer list had taken the place of this one. */
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

  /** One at a time, so that no older answer takes the place of a newer one. */
  const look = singleFlight(async () => {
    const found = await lists.newest();
    lookedAt = performance.now();
    if (found && found.number !== loaded?.number) loaded = withDocuments(found);
  });

  async function publish(): Promise<void> {
    await needs.publishRevocations();
    // One that is under way may have begun before.
    await look.current()?.catch(() => {});
    lookedAt = -Infinity;
  }

  /**
   * A revocation that was committed shortly before a crash may be on no list yet. Nothing is served before it is
   * listed, or its upkeep has had its time.
   */
  const listLeftovers = singleFlight(
    async () => {
      if (await needs.hasUnlisted()) await make();
    },
    { keepResult: true },
  );

  /** The first list there is; or one in place of a list that has ended while nobody did the upkeep. */
  const make = singleFlight(async () => {
    await authority.current();
    await publish();
    await look();
  });

  /** Neither ended, nor made while the clock was ahead: relying parties refuse everybody by such a list. */
  const isInForce = ({ thisUpdate, nextUpdate }: RevocationListRow): boolean => {
    const now = clock.now();
    return thisUpdate <= now && now < nextUpdate;
  };

  async function newest(): Promise<Loaded> {
    await listLeftovers();
    if (performance.now() - lookedAt > LOOK_AGAIN_MS) await look();
    if (!loaded || !isInForce(loaded)) await make();
    if (!loaded) throw new ApiError('unavailable', 'the revocation list is still being made; try again');
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

  /** What most callers get, who only ask whether theirs is still the newest. */
  function atHand(format: Format): Document | undefined {
    const isKnown = loaded !== undefined && performance.now() - lookedAt <= LOOK_AGAIN_MS;
    return isKnown && isInForce(loaded as Loaded) ? loaded?.written[format] : undefined;
  }

  async function document(format: Format): Promise<Document> {
    for (;;) {
      const list = await newest();
      const written = await list.documents[format]();
      if (written) {
        list.written[format] = written;
        return written;
      }
      // A newer list took its place in between.
      lookedAt = -Infinity;
    }
  }

  return {
    /** What was revoked before this is on the list that is served after it. */
    publish,
    serve(
      { format: given }: RequestOf<typeof certificateContract.revocationList>,
      call: Call,
    ): Document | Promise<Document> {
      const format = given ?? preferredFormat(call);
      return atHand(format) ?? document(format);
    },
  };
}

export type RevocationListService = ReturnType<typeof createRevocationListService>;
