// What a plan grants: its rules apply to all of its licenses.
import type { FloatingTerms, Licensing } from './floating-terms.ts';

export interface Plan extends FloatingTerms {
  id: number;
  name: string;
  displayName: string;
  /** Null: for any product. */
  product: string | null;
  tier: number;
  durationDays: number;
  graceDays: number;
  /** Null: any number of devices. */
  maxActivations: number | null;
  /** Slugs. */
  features: string[];
  /** Epoch milliseconds, like all times here. */
  archivedAt: number | null;
  licensing: Licensing;
  createdAt: number;
}
