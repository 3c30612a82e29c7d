// What the first screen asks for, by its address: the same calls that the screen makes once its code has loaded.
// test/e2e/opening.spec.ts checks that each of them is used, and that no call is made twice.
import { lastDays, toWholeDays } from '../features/statistics/statistics-period.ts';

const EVERYWHERE = ['/health/', '/health/ready/', '/deliveries/count-retriable/'];

/** The slowest first, because browsers send six requests at a time. Without filters, which only a screen can read. */
const BY_ADDRESS: Record<string, () => string[]> = {
  '#/overview': () => [
    '/overview/',
    '/overview/trend/?days=28',
    ...EVERYWHERE,
    '/alerts/',
    '/server-info/',
    '/first-run/',
  ],
  '#/licenses': () => [
    '/licenses/?sort=created&order=desc&limit=100',
    ...EVERYWHERE,
    '/licenses/count/',
    '/plans/?limit=500',
  ],
  '#/statistics': () => [`/stats/?${new URLSearchParams({ ...toWholeDays(lastDays()) })}`, ...EVERYWHERE],
};
const OVERVIEW = '#/overview';

/** @param hash of the page's address @returns the address of its first screen */
export function screenAddress(hash: string): string {
  return hash === '' || hash === '#/' ? OVERVIEW : hash;
}

/** @param hash of the page's address @returns paths below the root of the admin API */
export function openingCalls(hash: string): string[] {
  return BY_ADDRESS[screenAddress(hash)]?.() ?? EVERYWHERE;
}
