// The rules behind every verdict, for every way in which they can fail together.
import { describe, expect, it } from 'vitest';
import {
  isInvalidInAnyState,
  licenseFileVerdict,
  type LicenseRule,
  licenseVerdict,
  RULES_FOR,
  ruleOutcome,
  type VerdictQuestion,
} from '#server/rules/license-verdict.ts';

const NOW = 1_000_000;

const REASONS: Record<LicenseRule, string> = {
  known: 'license_revoked',
  not_revoked: 'license_revoked',
  in_term: 'license_expired',
  product: 'product_mismatch',
  device: 'machine_not_activated',
  feature: 'feature_not_included',
};

/** The order in which clients see the reasons; it must never change. */
const ORDERS: Record<keyof typeof RULES_FOR, LicenseRule[]> = {
  activation: ['not_revoked', 'in_term', 'product'],
  authorization: ['not_revoked', 'in_term', 'product', 'device', 'feature'],
  token: ['product', 'not_revoked', 'in_term'],
  lease: ['not_revoked', 'in_term', 'product', 'feature'],
  signing: ['not_revoked', 'in_term'],
  license_file: ['known', 'not_revoked', 'in_term', 'device'],
  change: ['not_revoked'],
};

/** A question that fails exactly these rules; the others pass, or do not apply. */
function questionThatFails(failing: readonly LicenseRule[], asked: boolean): VerdictQuestion {
  const fails = (rule: LicenseRule) => failing.includes(rule);
  return {
    license: {
      revokedAt: fails('not_revoked') ? 0 : null,
      graceEndsAt: fails('in_term') ? NOW : NOW + 1,
      product: 'imager',
      features: ['ocr'],
    },
    now: NOW,
    product: fails('product') ? 'carver' : asked ? 'imager' : undefined,
    isDeviceActive: fails('device') ? false : asked ? true : undefined,
    feature: fails('feature') ? 'ai' : asked ? 'ocr' : undefined,
  };
}

function subsetsOf(rules: readonly LicenseRule[]): LicenseRule[][] {
  return rules.reduce<LicenseRule[][]>((sets, rule) => sets.flatMap((set) => [set, [...set, rule]]), [[]]);
}

const OF_LICENSE: LicenseRule[] = ['not_revoked', 'in_term', 'product', 'device', 'feature'];

describe.each(Object.entries(ORDERS))('the verdict for %s', (kind, order) => {
  const rules: readonly LicenseRule[] = RULES_FOR[kind as keyof typeof RULES_FOR];

  it('is the first failing rule in its order', () => {
    expect(rules).toEqual(order);
    for (const asked of [true, false])
      for (const failing of subsetsOf(OF_LICENSE)) {
        const first = order.find((rule) => failing.includes(rule));
        const verdict = licenseVerdict(rules, questionThatFails(failing, asked));
        expect([failing, verdict]).toEqual([failing, first === undefined ? null : REASONS[first]]);
      }
  });
});

describe('a rule', () => {
  it.each(OF_LICENSE)('comes out by itself: %s', (rule) => {
    for (const failing of subsetsOf(OF_LICENSE)) {
      const expected = failing.includes(rule) ? 'failed' : 'passed';
      expect(ruleOutcome(rule, questionThatFails(failing, true))).toBe(expected);
    }
  });

  it.each(['product', 'device', 'feature'] as const)(
    'is not asked about what the question leaves out: %s',
    (rule) => {
      expect(ruleOutcome(rule, questionThatFails([], false))).toBe('not_asked');
    },
  );

  it('is not asked of an unknown license, except whether it is known', () => {
    const unknown = { ...questionThatFails(OF_LICENSE, true), license: null };
    for (const rule of OF_LICENSE) expect(ruleOutcome(rule, unknown)).toBe('not_asked');
    expect(ruleOutcome('known', unknown)).toBe('failed');
    expect(ruleOutcome('known', questionThatFails([], true))).toBe('passed');
    expect(licenseVerdict(RULES_FOR.license_file, unknown)).toBe('license_revoked');
  });

  it('finds a license in term until the last millisecond of its grace period', () => {
    const license = { revokedAt: null, graceEndsAt: NOW, product: 'imager' };
    expect(ruleOutcome('in_term', { license, now: NOW - 1 })).toBe('passed');
    expect(ruleOutcome('in_term', { license, now: NOW })).toBe('failed');
  });

  it('finds no feature in a license without any', () => {
    const license = { revokedAt: null, graceEndsAt: NOW + 1, product: 'imager' };
    expect(ruleOutcome('feature', { license, now: NOW, feature: 'ocr' })).toBe('failed');
  });
});

describe('the verdict on a license file', () => {
  const good = questionThatFails([], true);
  const bad = questionThatFails(['in_term'], true);
  const fileReasons = {
    signature_invalid: 'final',
    unknown_key_id: 'final',
    key_distrusted: 'final',
    machine_mismatch: 'final',
    product_mismatch: 'final',
    not_yet_valid: 'outdated',
    license_expired: 'outdated',
    file_expired: 'outdated',
    license_revoked: 'outdated',
    feature_not_included: 'outdated',
  } as const;

  it.each(Object.entries(fileReasons))('that says %s, which is %s', (name, kind) => {
    const file = { license: {}, reason: name as keyof typeof fileReasons };
    const isFinal = kind === 'final';
    expect(isInvalidInAnyState(file)).toBe(isFinal);
    // A license that is good today needs a new file only; a license that is not gives its own reason.
    const keepsReason = isFinal || name === 'not_yet_valid';
    expect(licenseFileVerdict(file, good)).toBe(keepsReason ? name : 'file_expired');
    expect(licenseFileVerdict(file, bad)).toBe(isFinal ? name : 'license_expired');
  });

  it('of a good file is that on its license', () => {
    const file = { license: {}, reason: null };
    expect(licenseFileVerdict(file, good)).toBeNull();
    expect(licenseFileVerdict(file, bad)).toBe('license_expired');
  });

  it('that cannot be read is that of the file alone', () => {
    const file = { license: null, reason: 'signature_invalid' } as const;
    expect(isInvalidInAnyState(file)).toBe(true);
    expect(licenseFileVerdict(file, bad)).toBe('signature_invalid');
  });
});
