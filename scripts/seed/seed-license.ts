// Generates a license with its devices, tokens and history.
import { generateLicenseKey } from '#server/rules/license-key.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { makeActivations, type SeedActivation } from './activations.ts';
import { type Holder, makeHolder } from './holders.ts';
import { type LicenseHistory, makeHistory } from './license-history.ts';
import { OTHER_PRODUCTS, type PickPlan, type SeedPlan } from './plans.ts';
import type { RandomSource } from './random-source.ts';
import { makeTokens, type SeedToken } from './tokens.ts';

export interface SeedLicense extends LicenseHistory {
  id: number;
  licenseKey: string;
  holder: Holder;
  product: string;
  plan: SeedPlan;
  activations: SeedActivation[];
  tokens: SeedToken[];
}

/** Share of licenses for another product, where the plan has none. */
const OTHER_PRODUCT_SHARE = 0.04;
const IN_BUSINESS_MS = 4 * 365 * DAY_MS;
/** Above 1: each year more licenses are sold than in the previous one. */
const GROWTH = 1.4;

/** @param position 0 for the first license ever sold, approaching 1 for one sold now */
function soldAt(position: number, now: number): number {
  return now - Math.ceil(IN_BUSINESS_MS * (1 - position) ** GROWTH);
}

interface Shop {
  random: RandomSource;
  pickPlan: PickPlan;
  defaultProduct: string;
  now: number;
}

/** @param position see `soldAt` */
export function makeLicense(shop: Shop, id: number, position: number): SeedLicense {
  const { random, pickPlan, defaultProduct, now } = shop;
  const issuedAt = soldAt(position, now);
  const plan = pickPlan(random, issuedAt);
  const other = random.chance(OTHER_PRODUCT_SHARE);
  const history = makeHistory(random, plan, issuedAt, now);
  return {
    ...history,
    id,
    licenseKey: generateLicenseKey(random.bytes),
    holder: makeHolder(random),
    product: plan.product ?? (other ? random.pick(OTHER_PRODUCTS) : defaultProduct),
    plan,
    activations: makeActivations(random, plan, history),
    tokens: makeTokens(random, history, now),
  };
}
