// Generates daily counts of granted and denied authorizations.
import { toTimestamp } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { OTHER_PRODUCTS } from './plans.ts';
import type { RandomSource } from './random-source.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

const DAYS = 60;
const CALLS_PER_LICENSE = 3;
const WEEKEND_SHARE = 0.25;
const DENIED_SHARE = 0.03;

interface Counts {
  licenses: number;
  defaultProduct: string;
  now: number;
}

/** Adds to existing counts. */
export async function seedAuthorizationCounts(
  connection: SqliteConnection,
  random: RandomSource,
  { licenses, defaultProduct, now }: Counts,
): Promise<void> {
  const shares: [string, number][] = [
    [defaultProduct, 0.9],
    ...OTHER_PRODUCTS.map((product): [string, number] => [product, 0.025]),
  ];
  for (let age = DAYS - 1; age >= 0; age -= 1) {
    const at = now - age * DAY_MS;
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
    for (const [product, share] of shares) {
      const weekday = licenses * CALLS_PER_LICENSE * share * (0.8 + 0.4 * random.fraction());
      const granted = Math.round(weekday * (isWeekend ? WEEKEND_SHARE : 1));
      const denied = Math.round(granted * DENIED_SHARE * 2 * random.fraction());
      await connection.run(
        `INSERT INTO authorization_counts (day, product, granted, denied) VALUES (?, ?, ?, ?)
         ON CONFLICT (day, product) DO UPDATE SET granted = granted + excluded.granted, denied = denied + excluded.denied`,
        [toTimestamp(at).slice(0, 10), product, granted, denied],
      );
    }
  }
}
