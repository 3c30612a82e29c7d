// The rule that a value of a setting breaks if it is not allowed.
import type { Setting } from './setting.ts';
import { type BrokenRule, ruleOf } from '#server/wire/field-rules.ts';

export function allowedRule({ allowed, range }: Pick<Setting<unknown>, 'allowed' | 'range'>): BrokenRule {
  const message = `must be ${allowed}`;
  return range ? { message, reason: 'not_in_range', values: range } : ruleOf(message);
}
