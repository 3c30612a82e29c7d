// How long each kind of record is kept, with the setting for each period.
import type { Config } from '#server/platform/config.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { RetentionKind } from './retention-contract.ts';

/** The setting for each kind, by its name in `config.json`. */
const SETTINGS = {
  events: ['retain_events_days', 'retainEventsDays'],
  deliveries: ['retain_events_days', 'retainEventsDays'],
  attempts: ['retain_attempts_days', 'retainAttemptsDays'],
  audit: ['retain_audit_days', 'retainAuditDays'],
  imports: ['retain_imports_days', 'retainImportsDays'],
  restores: ['retain_restores_days', 'retainRestoresDays'],
} as const satisfies Partial<Record<RetentionKind, [string, keyof Config]>>;

type SettingName = (typeof SETTINGS)[keyof typeof SETTINGS][1];

export type RetentionSettings = Pick<Config, SettingName>;

interface Period {
  /** The setting's name in `config.json`. */
  setting: string | null;
  /** 0 means forever; null means as long as something refers to the records. */
  days: number | null;
}

export type RetentionPeriods = Record<RetentionKind, Period>;

/** Replies under an Idempotency-Key are kept for 24 hours (contract, section 2). */
const IDEMPOTENCY_DAYS = 1;
/** They contain network addresses. */
const DENIED_CALL_DAYS = 90;
/** Ended leases; the usage per hour stays longer. */
const LEASE_DAYS = 90;
const LEASE_USAGE_DAYS = 400;

export function retentionPeriods(settings: RetentionSettings): RetentionPeriods {
  const of = (kind: keyof typeof SETTINGS): Period => {
    const [setting, name] = SETTINGS[kind];
    return { setting, days: settings[name] };
  };
  return {
    events: of('events'),
    deliveries: of('deliveries'),
    attempts: of('attempts'),
    audit: of('audit'),
    idempotency: { setting: null, days: IDEMPOTENCY_DAYS },
    webhooks: { setting: null, days: null },
    imports: of('imports'),
    restores: of('restores'),
    denied_calls: { setting: null, days: DENIED_CALL_DAYS },
    leases: { setting: null, days: LEASE_DAYS },
    lease_denials: { setting: null, days: LEASE_USAGE_DAYS },
    lease_usage: { setting: null, days: LEASE_USAGE_DAYS },
  };
}

/** Records from before this time are removed; null if none are. */
export function cutoff({ days }: Period, now: number): number | null {
  return days === null || days === 0 ? null : now - days * DAY_MS;
}
