// Where a change came from.
import type { AuditEntryObject } from '#server/features/audit/audit-contract.ts';

export const ACTOR_KINDS = ['public', 'api_token', 'cli', 'session', 'system'] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export function actorKind({ actor_kind: given }: AuditEntryObject): ActorKind {
  return ACTOR_KINDS.find((kind) => kind === given) ?? 'system';
}
