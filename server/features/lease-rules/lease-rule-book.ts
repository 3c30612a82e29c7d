// The rules of each license, ready to decide, and the judge that checkouts ask. A checkout reads the rules inside its
// transaction, so that an edit applies to the next one on every server; only what did not change is remembered.
import type { HeldSeat, LeaseJudge, LeaseVerdict } from '#server/features/leases/lease-judge.ts';
import { compileLeaseRules, type CompiledLeaseRules } from '#server/rules/lease-rules.ts';
import type { LeaseGroupStore } from './lease-group-store.ts';
import { ruleText, toRule } from './lease-rule-presenter.ts';
import type { LeaseRuleRecord, LeaseRuleStore } from './lease-rule-store.ts';

interface Needs {
  rules: Pick<LeaseRuleStore, 'listOf'>;
  groups: Pick<LeaseGroupStore, 'membersOf'>;
}

export interface RulesOfLicense {
  records: LeaseRuleRecord[];
  compiled: CompiledLeaseRules;
}

interface Remembered {
  version: string;
  compiled: CompiledLeaseRules;
}

/** Licenses whose rules are kept compiled. */
const MOST_REMEMBERED = 1000;

const NO_RULES = compileLeaseRules([]);

/** Changes with everything that a decision depends on. */
function versionOf(records: readonly LeaseRuleRecord[]): string {
  return JSON.stringify(
    records.map(({ id, type, units, matchUser, matchHost, matchAddress, matchGroupId, groupRevision }) => [
      id,
      type,
      units,
      matchUser,
      matchHost,
      matchAddress,
      matchGroupId,
      groupRevision,
    ]),
  );
}

export function createLeaseRuleBook({ rules, groups }: Needs) {
  const remembered = new Map<number, Remembered>();

  async function compile(records: readonly LeaseRuleRecord[]): Promise<CompiledLeaseRules> {
    const ids = new Set(records.flatMap(({ matchGroupId }) => matchGroupId ?? []));
    const members = ids.size === 0 ? new Map<number, string[]>() : await groups.membersOf([...ids]);
    return compileLeaseRules(records.map((record) => toRule(record, members)));
  }

  async function open(licenseId: number): Promise<RulesOfLicense> {
    const records = await rules.listOf(licenseId);
    if (records.length === 0) {
      remembered.delete(licenseId);
      return { records, compiled: NO_RULES };
    }
    const version = versionOf(records);
    const before = remembered.get(licenseId);
    if (before?.version === version) return { records, compiled: before.compiled };
    const compiled = await compile(records);
    const [oldest] = remembered.keys();
    if (remembered.size >= MOST_REMEMBERED && oldest !== undefined) remembered.delete(oldest);
    remembered.set(licenseId, { version, compiled });
    return { records, compiled };
  }

  function refusal(
    outcome: 'denied' | 'max' | 'reserved',
    ruleId: number | null,
    records: readonly LeaseRuleRecord[],
  ): LeaseVerdict {
    const record = records.find(({ id }) => id === ruleId);
    return { outcome, ruleId, rule: record ? ruleText(record) : 'all seats are taken' };
  }

  const judge: LeaseJudge = {
    async among({ licenseId, limit, ...seats }) {
      const { records, compiled } = await open(licenseId);
      if (records.length === 0) return () => ({ outcome: 'allowed' });
      // Without limits and reservations, the pool alone decides, and no one has to be read.
      const holders: readonly HeldSeat[] = compiled.needsHolders ? await seats.holders() : [];
      const decide = compiled.among({ limit: compiled.needsHolders ? limit : null, holders });
      return ({ user, host, address, units }) => {
        const verdict = decide({ requester: { user, host, address }, units });
        if (verdict.outcome === 'granted') return { outcome: 'allowed' };
        if (verdict.outcome === 'denied') return refusal('denied', verdict.rule, records);
        const isLimit = records.some(({ id, type }) => id === verdict.rule && type === 'max');
        return refusal(isLimit ? 'max' : 'reserved', verdict.rule, records);
      };
    },
    async passing({ licenseId, limit, ...seats }) {
      const { records, compiled } = await open(licenseId);
      if (limit === null || !records.some(({ type }) => type === 'reserve')) return null;
      const cover = compiled.passing({ limit, holders: await seats.holders() });
      if (cover === null) return null;
      return { mayPass: ({ units, ...requester }) => cover.covers({ requester, units }), add: cover.add };
    },
    async reserved({ licenseId, limit, inUse, ...seats }) {
      const { records, compiled } = await open(licenseId);
      if (limit === null || !records.some(({ type }) => type === 'reserve')) return 0;
      const units = compiled.reservedUnits({ limit, holders: await seats.holders() });
      // After an edit, others may still hold seats that are reserved now.
      return Math.max(0, Math.min(units, limit - inUse));
    },
  };

  return { open, judge };
}

export type LeaseRuleBook = ReturnType<typeof createLeaseRuleBook>;
