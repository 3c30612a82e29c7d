// Why a trial connection to PostgreSQL fails, as a rule that the page can say in its language.
import type { NamedRule, RuleReason } from '#server/wire/field-rules.ts';
import { driverCodeOf } from '#server/platform/driver-error.ts';

/** By SQLSTATE, or by code of the operating system. */
const REASONS: Readonly<Record<string, RuleReason>> = {
  '28000': 'database_login_refused',
  '28P01': 'database_login_refused',
  '3D000': 'database_not_found',
  EAI_AGAIN: 'host_unresolved',
  ENOTFOUND: 'host_unresolved',
  ECONNREFUSED: 'database_refused',
  EHOSTUNREACH: 'database_not_answering',
  ENETUNREACH: 'database_not_answering',
  ETIMEDOUT: 'database_not_answering',
};

/** The driver ends its wait with this message and without a code. */
const TIMEOUT = 'timeout expired';

/** @returns undefined if the message says more */
export function connectionRule(error: Error): NamedRule | undefined {
  const isTimeout = error.message === TIMEOUT;
  const reason = isTimeout ? 'database_not_answering' : REASONS[String(driverCodeOf(error))];
  return reason && { reason };
}
