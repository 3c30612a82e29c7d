// What a denied checkout failed for, from the pool and the rule at that moment.
import type { RouteLocationRaw } from 'vue-router';
import type { LeaseDenialObject } from '#server/features/leases/lease-admin-contract.ts';
import type { Tone } from '../../components/StatusPill.vue';
import { floatingLink } from './floating-view.ts';

export type DenialCause =
  | 'deny'
  | 'no_allow'
  | 'max'
  | 'reserved'
  | 'borrow'
  | 'queue'
  | 'not_enough'
  | 'no_seat';

export const DENIAL_TONES: Record<LeaseDenialObject['error_code'], Tone> = {
  no_seat_available: 'warn',
  borrow_limit_reached: 'info',
  denied_by_rule: 'bad',
};

export function denialCause({
  error_code: code,
  rule_id: ruleId,
  rule,
  units,
  pool,
}: LeaseDenialObject): DenialCause {
  if (code === 'denied_by_rule') return ruleId === null ? 'no_allow' : 'deny';
  if (code === 'borrow_limit_reached') return 'borrow';
  if (ruleId !== null) return rule?.startsWith('max') ? 'max' : 'reserved';
  const available = pool.available ?? units;
  if (available >= units) return 'queue';
  if (available > 0) return 'not_enough';
  return pool.reserved >= units ? 'reserved' : 'no_seat';
}

export type DenialRemedy = 'seats' | 'borrow' | 'rule' | 'rules' | 'reclaim' | 'usage' | 'retry';

const REMEDIES: Record<DenialCause, readonly DenialRemedy[]> = {
  deny: ['rule', 'retry'],
  no_allow: ['rules', 'retry'],
  max: ['rule', 'retry'],
  reserved: ['rule', 'seats', 'usage', 'retry'],
  borrow: ['borrow'],
  queue: ['seats', 'reclaim', 'usage'],
  not_enough: ['seats', 'reclaim', 'usage', 'retry'],
  no_seat: ['seats', 'reclaim', 'usage', 'retry'],
};

/** @returns what can be done about it, most likely first, each with the place where it is done */
export function denialRemedies(denial: LeaseDenialObject): { name: DenialRemedy; to: RouteLocationRaw }[] {
  const { license_id: license, rule_id: rule, user, host, address, units } = denial;
  const edit = { name: 'licenses', query: { open: license, action: 'edit' } };
  const named = { user, host, address, device: denial.machine_fingerprint };
  const client = Object.fromEntries(Object.entries(named).filter(([, value]) => value !== null)) as Record<
    string,
    string
  >;
  const places: Record<DenialRemedy, RouteLocationRaw> = {
    seats: edit,
    borrow: edit,
    rule: floatingLink('rules', { license, ...(rule === null ? {} : { rule }) }),
    rules: floatingLink('rules', { license }),
    reclaim: floatingLink('pools', { open: license }),
    usage: floatingLink('usage', { license }),
    retry: floatingLink('rules', { license, ...client, units }),
  };
  return REMEDIES[denialCause(denial)].map((name) => ({ name, to: places[name] }));
}
