// Selects audited changes that concern access, and describes them for the security log.
import type { SecurityLog } from '#server/platform/security-log.ts';
import type { RecordedEntry } from './audit-service.ts';

/** First part of the audit actions that concern access. */
const NOUNS: ReadonlySet<string> = new Set([
  'api_token',
  'authority',
  'backup',
  'master_key',
  'server',
  'session',
  'settings',
  'signing_key',
]);
const ACTIONS: ReadonlySet<string> = new Set(['webhook.secret_rotated']);

/** Copies a committed audit entry to the security log if it concerns access. */
export function recordSecurityEvent(security: Pick<SecurityLog, 'record'>, entry: RecordedEntry): void {
  const { action, call, subject, before, after } = entry;
  if (!NOUNS.has(action.split('.')[0] ?? '') && !ACTIONS.has(action)) return;
  const { kind, name, id } = call.actor;
  security.record(action, {
    actor: { kind, name, ...(id === undefined ? {} : { id }) },
    subject,
    ...(before ? { before } : {}),
    ...(after ? { after } : {}),
    ...(call.address === undefined ? {} : { address: call.address }),
    request_id: call.requestId,
  });
}
