// Finds the facts behind an authorization: in memory, or else in the database.
import { byKey } from '#server/rules/license-reference.ts';
import type { AuthorizationLookupStore, LicenseFacts, TokenFacts } from './authorization-lookup-store.ts';
import {
  createFactCache,
  type FactCache,
  type FactVersions,
  NOTHING_KEPT,
} from '#server/database/fact-cache.ts';

/** A few megabytes for each kind. The later half always stays: 10,000 in frequent use, and room for a few others. */
const MAX_KEPT = 24_000;

interface Needs {
  store: Pick<AuthorizationLookupStore, 'findToken' | 'findLicense'>;
  /** Null if other servers can change the database: nothing is kept. */
  versions: FactVersions | null;
}

export function createAuthorizationLookup({ store, versions }: Needs) {
  const keep = <Facts extends { licenseId: number }>(
    commonTexts: readonly (keyof Facts)[],
  ): FactCache<Facts> =>
    versions
      ? createFactCache<Facts>({
          sources: [{ versions, keyOf: ({ licenseId }) => licenseId }],
          maxSize: MAX_KEPT,
          keeps: 'from the second look-up',
          commonTexts,
        })
      : NOTHING_KEPT;
  const tokens = keep<TokenFacts>(['product', 'status']);
  const licenses = keep<LicenseFacts>(['product', 'plan', 'features', 'licensing']);
  const keyOf = (licenseKey: string, fingerprint: string | undefined) =>
    fingerprint === undefined ? licenseKey : `${licenseKey} ${fingerprint}`;

  return {
    /** @param tokenHash lower-case hex SHA-256 of the token */
    knownToken: (tokenHash: string): TokenFacts | undefined => tokens.get(tokenHash),

    findToken: (tokenHash: string): Promise<TokenFacts | null> =>
      tokens.load(tokenHash, () => store.findToken(tokenHash)),

    /** @param text a license key; facts are kept under its canonical form, as almost all callers send it */
    knownLicense: (text: string, fingerprint: string | undefined): LicenseFacts | undefined =>
      licenses.get(keyOf(text, fingerprint)),

    /** @throws ApiError `invalid_request` for a key with a typo */
    findLicense(text: string, fingerprint: string | undefined): Promise<LicenseFacts | null> {
      const licenseKey = byKey(text).key;
      return licenses.load(keyOf(licenseKey, fingerprint), () =>
        store.findLicense({ licenseKey, machineFingerprint: fingerprint }),
      );
    },
  };
}

export type AuthorizationLookup = ReturnType<typeof createAuthorizationLookup>;
