// The plans of a company that has sold licenses for years: the four default plans and additional ones.
import { DAY_MS } from '#server/wire/instants.ts';
import { type RandomSource, weighted } from './random-source.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

export interface SeedPlan {
  id: number;
  name: string;
  /** Slug, or null for any product. */
  product: string | null;
  durationDays: number;
  graceDays: number;
  maxActivations: number | null;
  /** JSON list. */
  features: string;
}

/** Products in addition to the default one. */
export const OTHER_PRODUCTS = ['mobile-extractor', 'evidence-vault', 'disk-imager', 'cloud-capture'];

/** `[name, display name, product, tier, days, grace days, devices, features, archived]`; nothing is done to one that exists. */
const OWN_PLANS: [string, string, string | null, number, number, number, number | null, string[], boolean][] =
  [
    ['campus', 'Campus (universities)', null, 15, 365, 30, 25, ['export-pdf', 'training-mode'], false],
    [
      'agency',
      'Law enforcement agency',
      null,
      28,
      730,
      60,
      50,
      ['export-pdf', 'case-sharing', 'audit-trail'],
      false,
    ],
    ['field-kit', 'Field kit', 'mobile-extractor', 12, 365, 14, 2, ['usb-acquisition'], false],
    [
      'vault-team',
      'Evidence Vault – tým',
      'evidence-vault',
      22,
      365,
      14,
      10,
      ['case-sharing', 'retention'],
      false,
    ],
    ['standard-legacy', 'Standard (earlier terms)', null, 8, 365, 7, 1, [], true],
  ];

const SHARES: [string, number][] = [
  ['trial', 5],
  ['standard', 53],
  ['professional', 22],
  ['enterprise', 5],
  ['campus', 6],
  ['agency', 4],
  ['field-kit', 3],
  ['vault-team', 2],
];
const ARCHIVED = 'standard-legacy';
const ARCHIVED_SHARE = 0.2;
/** The archived plan was sold to licenses older than this. */
const ARCHIVED_AGE_MS = 900 * DAY_MS;

export type PickPlan = (random: RandomSource, issuedAt: number) => SeedPlan;

/** Adds missing plans, and chooses a license's plan. */
export async function seedPlans(connection: SqliteConnection, now: number): Promise<PickPlan> {
  const archivedAt = now - ARCHIVED_AGE_MS;
  const createdAt = archivedAt - 600 * DAY_MS;
  for (const [name, display, product, tier, duration, grace, devices, features, archived] of OWN_PLANS) {
    await connection.run(
      `INSERT INTO plans (name, display_name, product, tier, duration_days, grace_days, max_activations, features,
         archived_at, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING`,
      [
        name,
        display,
        product,
        tier,
        duration,
        grace,
        devices,
        JSON.stringify(features),
        archived ? archivedAt : null,
        createdAt,
      ],
    );
  }
  const rows = await connection.all<SeedPlan>(
    `SELECT id, name, product, duration_days AS durationDays, grace_days AS graceDays,
       max_activations AS maxActivations, features FROM plans`,
  );
  const byName = new Map(rows.map((plan) => [plan.name, plan]));
  const sold = SHARES.flatMap(([name, share]) => {
    const plan = byName.get(name);
    return plan ? [[plan, share] as const] : [];
  });
  const current = weighted(sold);
  const archived = byName.get(ARCHIVED);
  return (random, issuedAt) =>
    archived && issuedAt < archivedAt && random.chance(ARCHIVED_SHARE) ? archived : current(random);
}
