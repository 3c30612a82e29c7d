// Licenses as the rules see them, and how to name one. All times are epoch milliseconds.
import type { CustomFields } from '#server/wire/custom-fields.ts';
import type { FloatingTerms, Licensing, OwnSeatLimits } from './floating-terms.ts';

/** What is stored of a license. */
export interface NewLicense extends OwnSeatLimits {
  licenseKey: string;
  holder: string;
  email: string | null;
  orderNumber: string | null;
  notes: string | null;
  customFields: CustomFields;
  /** Holder, email address and values of custom fields, case-folded. */
  searchText: string;
  product: string;
  planId: number;
  issuedAt: number;
  expiresAt: number;
  firstActivatedAt: number | null;
  revokedAt: number | null;
  revokeReason: string | null;
  /** Counts renewals, from 1. Each notice is sent once per term. */
  term: number;
  /** When the scan must look at this license next. */
  noticeDueAt: number | null;
}

/** A license with the fields that come from its plan and its devices. */
export interface License extends Omit<NewLicense, 'searchText'> {
  id: number;
  plan: string;
  tier: number;
  durationDays: number;
  graceDays: number;
  maxActivations: number | null;
  features: string[];
  licensing: Licensing;
  /** The plan's terms with the license's overrides. They apply to floating licenses. */
  terms: FloatingTerms;
  graceEndsAt: number;
  activationCount: number;
  newestFingerprint: string | null;
}

/** By ID, key or both. If both are given, they must name the same license. */
export interface LicenseReference {
  id?: number | undefined;
  /** In canonical form. */
  key?: string | undefined;
}
