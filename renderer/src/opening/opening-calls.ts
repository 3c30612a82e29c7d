// What the first screen asks for, by its address: the same calls that the screen makes once its code has loaded.
// test/e2e/opening.spec.ts checks that each of them is used, and that no call is made twice.
import { comparedDays, toWholeDays } from '../features/statistics/statistics-period.ts';

export interface OpeningCalls {
  /** Paths below the root of the admin API that the screen cannot be shown without: asked for at once. */
  figures: string[];
  /** Asked for after these, because browsers send six requests at a time. */
  others: string[];
}

/** Its reply shows whether the session is valid. */
const SESSION = '/health/';
const EVERYWHERE = ['/health/ready/', '/deliveries/count-retriable/'];

/** Without filters, which only a screen can read. */
const BY_ADDRESS: Record<string, () => OpeningCalls> = {
  '#/overview': () => ({
    figures: ['/overview/trend/?days=28', '/overview/', SESSION],
    others: [...EVERYWHERE, '/alerts/', '/server-info/', '/first-run/'],
  }),
  '#/licenses': () => ({
    figures: ['/licenses/?sort=created&order=desc&limit=100', SESSION],
    others: [...EVERYWHERE, '/licenses/count/', '/plans/?limit=500'],
  }),
  '#/statistics': () => ({
    figures: [`/stats/?${new URLSearchParams({ ...toWholeDays(comparedDays()) })}`, SESSION],
    others: EVERYWHERE,
  }),
};
const OVERVIEW = '#/overview';

/** @param hash of the page's address @returns the address of its first screen */
export function screenAddress(hash: string): string {
  return hash === '' || hash === '#/' ? OVERVIEW : hash;
}

/** @param hash of the page's address */
export function openingCalls(hash: string): OpeningCalls {
  return BY_ADDRESS[screenAddress(hash)]?.() ?? { figures: [SESSION], others: EVERYWHERE };
}
