// The rule that a value of a setting breaks if it is not allowed.
import type { Setting } from '#server/platform/settings.ts';
import { type BrokenRule, ruleOf } from '#server/wire/field-rules.ts';

const RANGE = /^(?<min>\d+) to (?<max>\d+)$/u;

export function allowedRule({ allowed }: Pick<Setting<unknown>, 'allowed'>): BrokenRule {
  const message = `must be ${allowed}`;
  const { min, max } = RANGE.exec(allowed)?.groups ?? {};
  if (min === undefined) return ruleOf(message);
  return { message, reason: 'not_in_range', values: { min: Number(min), max: Number(max) } };
}
