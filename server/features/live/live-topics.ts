import type { LiveTopic } from './live-contract.ts';

/** By the noun of the audit action. Topics include everything derived from the object: counts, states, terms. */
const TOPICS: ReadonlyMap<string, readonly LiveTopic[]> = new Map<string, readonly LiveTopic[]>([
  ['license', ['licenses', 'leases', 'events']],
  ['licenses', ['licenses', 'leases', 'events']],
  ['device', ['devices', 'licenses', 'events']],
  ['license_file', ['devices']],
  ['lease', ['leases', 'events']],
  ['token', ['authorization_tokens']],
  ['certificate', ['certificates', 'events']],
  ['authority', ['certificates']],
  ['plan', ['plans', 'licenses', 'leases']],
  ['webhook', ['webhooks', 'deliveries']],
  ['delivery', ['deliveries']],
  ['deliveries', ['deliveries']],
  ['api_token', ['api_tokens']],
  ['signing_key', ['signing_keys']],
  ['settings', ['settings']],
  ['backup', ['settings']],
  ['lease_rule', ['lease_rules', 'leases']],
  ['lease_group', ['lease_rules', 'leases']],
  ['session', ['sessions']],
]);

/** @param action as in the audit log: `license.revoked` */
export function topicsOfAction(action: string): LiveTopic[] {
  const noun = action.slice(0, action.indexOf('.'));
  return [...(TOPICS.get(noun) ?? []), 'audit'];
}
