// What a list of licenses should show, worked out the plain way from the licenses themselves.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { activateDevice, adminSuccess, newLicense, unique } from './contract-calls.ts';
import type { TestClock } from './test-clock.ts';
import type { TestServer } from './test-server.ts';

const DAY_MS = 86_400_000;

export interface ListInput {
  state?: string;
  search?: string;
  plan?: string;
  product?: string;
  expires_within_days?: number;
  sort?: 'created' | 'expires' | 'holder';
  order?: 'asc' | 'desc';
}

/** Every filter alone and with each other, in every order. */
export function* allLists(searches: readonly string[]): Generator<ListInput> {
  const pick = <Value>(...values: Value[]): (Value | undefined)[] => [undefined, ...values];
  for (const state of pick('issued', 'active', 'expiring', 'in_grace', 'expired', 'revoked')) {
    for (const facets of [{}, { plan: 'trial' }, { product: 'imager' }, { expires_within_days: 30 }]) {
      for (const search of searches) yield { ...facets, search, ...(state === undefined ? {} : { state }) };
    }
  }
}

export const ORDERS: ListInput[] = (['created', 'expires', 'holder'] as const).flatMap((sort) =>
  (['asc', 'desc'] as const).map((order) => ({ sort, order })),
);

const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
/** As databases compare: by the bytes of UTF-8. */
const compareText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const COMPARE: Record<NonNullable<ListInput['sort']>, (a: LicenseRecord, b: LicenseRecord) => number> = {
  created: () => 0,
  expires: (a, b) => Date.parse(a.expires_at) - Date.parse(b.expires_at),
  holder: (a, b) => compareText(fold(`${a.holder}\n${a.email ?? ''}`), fold(`${b.holder}\n${b.email ?? ''}`)),
};

/** The ids, in order. */
export function expectedIds(licenses: readonly LicenseRecord[], input: ListInput, now: number): number[] {
  const { state, search, plan, product, expires_within_days: within, sort = 'created' } = input;
  const direction = (input.order ?? (sort === 'created' ? 'desc' : 'asc')) === 'asc' ? 1 : -1;
  return licenses
    .filter((license) => state === undefined || license.state === state)
    .filter((license) => plan === undefined || license.plan === plan)
    .filter((license) => product === undefined || license.product === product)
    .filter((license) => {
      const end = Date.parse(license.expires_at);
      const isDue = end > now && end <= now + (within ?? 0) * DAY_MS;
      // A revoked license does not expire, unless revoked ones are asked for.
      return within === undefined || (isDue && (state !== undefined || license.state !== 'revoked'));
    })
    .filter(
      (license) =>
        search === undefined || fold(`${license.holder}\n${license.email ?? ''}`).includes(fold(search)),
    )
    .toSorted((a, b) => direction * (COMPARE[sort](a, b) || a.license_id - b.license_id))
    .map(({ license_id }) => license_id);
}

/** All ids of a list, page by page. */
export async function listedIds(server: TestServer, input: ListInput, limit: number): Promise<number[]> {
  const ids: number[] = [];
  for (let cursor: string | null = null; ;) {
    const page: { items: LicenseRecord[]; next_cursor: string | null } = await adminSuccess(
      server,
      'listLicenses',
      { ...input, limit, ...(cursor === null ? {} : { cursor }) },
    );
    ids.push(...page.items.map(({ license_id }) => license_id));
    if (page.next_cursor === null) return ids;
    cursor = page.next_cursor;
  }
}

/**
 * Licenses in all states, of several plans, products and holders, among them some that differ in accents, case and script
 * alone; every holder has `marker` in its name.
 */
export async function plantLicenses(
  server: TestServer,
  clock: TestClock,
): Promise<{ marker: string; licenses: LicenseRecord[] }> {
  const marker = unique('planted');
  const now = clock.now();
  const ends = [-400, -20, -3, 0, 1, 6, 7, 8, 30, 31, 365].map((days) => now + days * DAY_MS);
  const names = ['Žofie', 'zofie', 'Ärztekammer', '株式会社', 'Élan 100%', 'a_b'];
  const made: number[] = [];
  for (const [index, end] of [...ends, ...ends].entries()) {
    const license = await newLicense(server, {
      holder: `${names[index % names.length]} ${marker}`,
      ...(index % 3 === 0 ? {} : { email: `${names.length - (index % 5)}@lab.example` }),
      plan: ['standard', 'trial', 'enterprise'][index % 3]!,
      product: index % 4 === 0 ? 'imager' : 'my-product',
      expires_at: new Date(end).toISOString(),
    });
    made.push(license.license_id);
    if (end > now && index % 2 === 0) await activateDevice(server, license);
    if (index % 7 === 5) await server.admin.revokeLicense({ ref: String(license.license_id) });
  }
  const licenses = await Promise.all(
    made.map(async (id) => (await server.admin.showLicense({ ref: String(id) })).license),
  );
  return { marker, licenses };
}
