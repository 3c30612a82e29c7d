// What a rule about the seats of a floating license does.

export const LEASE_RULE_TYPES = ['reserve', 'max', 'allow', 'deny'] as const;
export type LeaseRuleType = (typeof LEASE_RULE_TYPES)[number];
