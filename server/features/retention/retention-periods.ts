// How long each kind of record is kept.
import type { Config } from '#server/platform/config.ts';
import { DAY_MS } from '#server/wire/fields.ts';
import type { RetentionKind } from './retention-contract.ts';

export type RetentionSettings = Pick<
  Config,
  'retainEventsDays' | 'retainAttemptsDays' | 'retainAuditDays' | 'retainImportsDays' | 'retainRestoresDays'
>;

interface Period {
  /** The setting's name in `config.json`. */
  setting: string | null;
  /** 0: forever; null: as long as something refers to them. */
  days: number | null;
}

/** Replies under an Idempotency-Key are kept for 24 hours (contract, section 2). */
const IDEMPOTENCY_DAYS = 1;

export function retentionPeriods(settings: RetentionSettings): Record<RetentionKind, Period> {
  const events = { setting: 'retain_events_days', days: settings.retainEventsDays };
  return {
    events,
    deliveries: events,
    attempts: { setting: 'retain_attempts_days', days: settings.retainAttemptsDays },
    audit: { setting: 'retain_audit_days', days: settings.retainAuditDays },
    idempotency: { setting: null, days: IDEMPOTENCY_DAYS },
    webhooks: { setting: null, days: null },
    imports: { setting: 'retain_imports_days', days: settings.retainImportsDays },
    restores: { setting: 'retain_restores_days', days: settings.retainRestoresDays },
  };
}

/** The moment before which records are removed; null: none are. */
export function cutoff({ days }: Period, now: number): number | null {
  return days === null || days === 0 ? null : now - days * DAY_MS;
}
