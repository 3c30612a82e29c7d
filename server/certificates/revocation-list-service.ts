// Serves the stored revocation list: read from the database when there is a new one, and never built on request.
import type { Call } from '../platform/call.ts';
import { Document } from '../platform/document.ts';
import type { RequestOf } from '../platform/endpoint.ts';
import { toTimestamp } from '../platform/fields.ts';
import type { AuthorityService } from './authority-service.ts';
import type { certificateContract } from './certificate-contract.ts';
import type { RevocationListRow, RevocationListStore } from './revocation-list-store.ts';
import { toPem } from './signed-structure.ts';

const TYPES = {
  json: 'application/json',
  der: 'application/pkix-crl',
  pem: 'application/x-pem-file',
} as const;

type Format = keyof typeof TYPES;

/** Another server on the same database may have made a list; its own this one hears of at once. */
const LOOK_AGAIN_MS = 1000;

interface Needs {
  lists: RevocationListStore;
  authority: Pick<AuthorityService, 'current'>;
  publishRevocations(): Promise<void>;
}

interface Loaded extends RevocationListRow {
  /** Made when they are first asked for. */
  documents: Partial<Record<Format, Document>>;
}

export function createRevocationListService(needs: Needs) {
  const { lists, authority } = needs;
  let loaded: Loaded | undefined;
  let lookedAt = -Infinity;
  let looking: Promise<void> | undefined;

  async function look(): Promise<void> {
    const newest = await lists.newest();
    lookedAt = performance.now();
    if (newest && newest.number !== loaded?.number) loaded = { ...newest, documents: {} };
  }

  /** The first list there is, when there was none. */
  async function makeFirst(): Promise<void> {
    await authority.current();
    await needs.publishRevocations();
    await look();
  }

  async function newest(): Promise<Loaded> {
    if (performance.now() - lookedAt > LOOK_AGAIN_MS) {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      await looking;
    }
    if (!loaded) await makeFirst();
    if (!loaded) throw new Error('no revocation list could be made');
    return loaded;
  }

  async function write(list: Loaded, format: Format): Promise<Document | null> {
    const stored = await lists.documents(list.number);
    if (!stored) return null;
    const { der, json } = stored;
    const options = { etag: `"${list.number}-${format}"`, cacheControl: 'no-cache' };
    if (format === 'der') return new Document(TYPES.der, der, options);
    const pem = toPem('X509 CRL', der);
    if (format === 'pem') return new Document(TYPES.pem, Buffer.from(pem), options);
    const head = JSON.stringify({
      ok: true,
      crl: pem,
      crl_number: list.number,
      this_update: toTimestamp(list.thisUpdate),
      next_update: toTimestamp(list.nextUpdate),
    });
    const body = Buffer.from(`${head.slice(0, -1)},"revoked":${json}}`);
    return new Document('application/json; charset=utf-8', body, options);
  }

  async function document(format: Format): Promise<Document> {
    for (;;) {
      const list = await newest();
      const document = list.documents[format] ?? (await write(list, format));
      if (document) {
        list.documents[format] = document;
        return document;
      }
      // A newer list took its place in between.
      lookedAt = -Infinity;
    }
  }

  return {
    /** What was revoked before this is on the list that is served after it. */
    async publish(): Promise<void> {
      await needs.publishRevocations();
      lookedAt = -Infinity;
    },
    serve({ format }: RequestOf<typeof certificateContract.revocationList>, call: Call): Promise<Document> {
      const preferred = call.prefers(Object.values(TYPES) as [string, ...string[]]);
      const found = (Object.keys(TYPES) as Format[]).find((name) => TYPES[name] === preferred);
      return document(format ?? found ?? 'json');
    },
  };
}

export type RevocationListService = ReturnType<typeof createRevocationListService>;
