// Turns an options file into lease rules, groups and settings, with a report of each line.
import { comparableName, distinctNames } from '#server/rules/lease-match.ts';
import type { LeaseRuleType } from '#server/rules/lease-rule-type.ts';
import { collectGroups, type GroupDraft, groupKey } from './options-groups.ts';
import { type Note, note } from './options-notes.ts';
import {
  featureText,
  type OptionsFeature,
  type OptionsLine,
  parseFeature,
  readOptionsLines,
} from './options-file.ts';
import {
  type OptionsEntry,
  type OptionsSetting,
  type OptionsStatement,
  type OptionsTarget,
  parseOptionsLine,
} from './options-grammar.ts';

export interface MatchDraft {
  user?: string;
  host?: string;
  group?: string;
  address?: string;
}

export interface RuleDraft {
  /** The line of the file that it comes from. */
  line: number;
  type: LeaseRuleType;
  match: MatchDraft;
  units: number | null;
  note: string;
}

export interface LineReport {
  line: number;
  text: string;
  outcome: 'mapped' | 'not_mapped' | 'ignored';
  notes: Note[];
}

export interface OptionsMapping {
  lines: LineReport[];
  features: string[];
  rules: RuleDraft[];
  groups: GroupDraft[];
  settings: Map<OptionsSetting, number>;
  warnings: Note[];
}

/** What the plan and the license accept. */
const BOUNDS: Readonly<Record<OptionsSetting, readonly [number, number]>> = {
  lease_seconds: [60, 86_400],
  linger_seconds: [0, 86_400],
  overdraft_seats: [0, 1_000_000_000],
  borrow_max_hours: [0, 8760],
  borrow_max_count: [0, 1_000_000_000],
  borrow_keep_free: [0, 1_000_000_000],
};

type RuleStatement = Extract<OptionsStatement, { target: OptionsTarget }>;
type SettingStatement = Extract<OptionsStatement, { type: 'setting' }>;
type Report = Pick<LineReport, 'outcome' | 'notes'>;

const mapped = (...notes: Note[]): Report => ({ outcome: 'mapped', notes });
const notMapped = (...notes: Note[]): Report => ({ outcome: 'not_mapped', notes });
const ignored = (...notes: Note[]): Report => ({ outcome: 'ignored', notes });

interface Selection {
  isChosen(feature: OptionsFeature): boolean;
  /** Why a line about another feature is left out. */
  otherwise(feature: string): Note;
}

function select(named: readonly string[], wanted: readonly string[]): Selection {
  if (wanted.length === 0 && named.length > 1) {
    return {
      isChosen: () => false,
      otherwise: (feature) => note('several_features', { feature, features: [...named] }),
    };
  }
  const chosen = (wanted.length === 0 ? named : wanted).map((word) => parseFeature(word));
  return {
    otherwise: (feature) => note('feature_not_chosen', { feature }),
    isChosen: ({ name, pool }) =>
      chosen.some(
        (one) =>
          one.name.toLowerCase() === name.toLowerCase() &&
          (one.pool === null || pool === null || one.pool.toLowerCase() === pool.toLowerCase()),
      ),
  };
}

const ORDER: readonly LeaseRuleType[] = ['deny', 'allow', 'max', 'reserve'];

/** A limit of no seats denies access. */
const isDenial = ({ type, units }: Pick<RuleDraft, 'type' | 'units'>) => type === 'max' && units === 0;

/** INCLUDE shuts out everyone else, which allow rules alone do not. */
function denyOthers(rules: readonly RuleDraft[]): RuleDraft[] {
  const lastAllow = rules.findLastIndex(({ type }) => type === 'allow');
  const allowed = rules[lastAllow];
  if (!allowed) return [...rules];
  return rules.toSpliced(lastAllow + 1, 0, {
    line: allowed.line,
    type: 'deny',
    match: {},
    units: null,
    note: 'Options file: everyone who is not included',
  });
}

/** The lines that would have shut out others, and cannot be imported. */
function linesOfLostIncludes(entries: readonly OptionsEntry[]): number[] {
  return entries
    .filter(
      ({ source, statement }) =>
        statement.type === 'refused' && /^include(?:all)?$/iu.test(source.words[0] ?? ''),
    )
    .map(({ source }) => source.line);
}

/** What each line about a group becomes that a rule names. */
function reportGroups(
  entries: readonly OptionsEntry[],
  groups: ReadonlyMap<string, GroupDraft>,
  used: ReadonlySet<GroupDraft>,
): [OptionsLine, Report][] {
  const groupNames = new Set([...groups.values()].map(({ name }) => comparableName(name)));
  return entries.flatMap(({ source, statement }): [OptionsLine, Report][] => {
    const group = statement.type === 'group' ? groups.get(groupKey(statement)) : undefined;
    if (statement.type !== 'group' || !group || !used.has(group)) return [];
    const { name, members } = statement;
    const nested = members.filter((member) => groupNames.has(comparableName(member)));
    const notes = [note('group', { group: group.name, kind: group.kind })];
    if (group.name !== name) notes.push(note('group_renamed', { name }));
    if (nested.length > 0) notes.push(note('nested_groups', { members: nested }));
    return [[source, mapped(...notes)]];
  });
}

/**
 * @param wanted the features that the license covers; may be empty if the file names only one
 * @param existing the kind and name of each group of the installation, for rules about groups that the file leaves out
 */
export function mapOptionsFile(
  content: string,
  wanted: readonly string[],
  existing: ReadonlySet<string> = new Set(),
): OptionsMapping {
  const entries = readOptionsLines(content).map((source) => ({
    source,
    statement: parseOptionsLine(source),
  }));
  const named = distinctNames(
    entries.flatMap(({ statement }) =>
      'feature' in statement && statement.feature ? [statement.feature.name] : [],
    ),
  );
  const groups = collectGroups(entries);
  const selection = select(named, wanted);
  const reports = new Map<OptionsLine, Report>();
  const drafts: RuleDraft[] = [];
  const used = new Set<GroupDraft>();
  const settings = new Map<OptionsSetting, { value: number; source: OptionsLine }>();

  /** Null if neither the file nor the installation has the group. */
  function matchOf(target: OptionsTarget): MatchDraft | null {
    if (target.by !== 'group') return { [target.by]: target.name };
    const key = groupKey(target);
    const group = groups.get(key);
    if (!group) return existing.has(key) ? { group: target.name } : null;
    used.add(group);
    return { group: group.name };
  }

  function mapRule(source: OptionsLine, statement: RuleStatement): Report {
    const { type, target, feature } = statement;
    const units = 'units' in statement ? statement.units : null;
    if (feature && !selection.isChosen(feature)) return notMapped(selection.otherwise(featureText(feature)));
    if (type === 'reserve' && units === 0) return ignored(note('reserves_nothing'));
    const match = matchOf(target);
    if (!match) return notMapped(note('group_undefined', { group: target.name }));
    const draft = isDenial({ type, units }) ? { type: 'deny' as const, units: null } : { type, units };
    drafts.push({ ...draft, line: source.line, match, note: `Options file, line ${source.line}` });
    const pool = feature?.pool ?? null;
    const [[field, name] = []] = Object.entries(match) as [keyof MatchDraft, string][];
    const about = { type: draft.type, field, name };
    const rule =
      draft.units === null ? note('rule', about) : note('rule_with_seats', { ...about, units: draft.units });
    return mapped(rule, ...(pool === null ? [] : [note('one_pool', { pool })]));
  }

  function mapSetting(source: OptionsLine, { setting, value, feature }: SettingStatement): Report {
    if (feature && !selection.isChosen(feature)) return notMapped(selection.otherwise(featureText(feature)));
    const [least, most] = BOUNDS[setting];
    const kept = Math.min(Math.max(value, least), most);
    const before = settings.get(setting);
    if (before) reports.set(before.source, ignored(note('set_again', { line: source.line, setting })));
    settings.set(setting, { value: kept, source });
    const isKept = kept === value;
    return mapped(
      note('setting', { setting, value: kept }),
      ...(isKept ? [] : [note('out_of_range', { value, min: least, max: most })]),
    );
  }

  function reportOf({ source, statement }: OptionsEntry): Report {
    switch (statement.type) {
      case 'ignored':
        return ignored(statement.note);
      case 'refused':
        return notMapped(statement.note);
      case 'setting':
        return mapSetting(source, statement);
      case 'reserve':
      case 'max':
      case 'allow':
      case 'deny':
        return mapRule(source, statement);
      case 'group':
        return ignored(note('group_unused'));
    }
  }

  for (const entry of entries) reports.set(entry.source, reportOf(entry));
  for (const [source, report] of reportGroups(entries, groups, used)) reports.set(source, report);

  const ordered = ORDER.flatMap((type) => drafts.filter((draft) => draft.type === type));
  const rules = denyOthers(ordered);
  const deniesOthers = rules.length > ordered.length;
  return {
    lines: entries.map(({ source }) => ({
      line: source.line,
      text: source.text,
      ...(reports.get(source) ?? ignored()),
    })),
    features: named,
    rules,
    groups: [...groups.values()].filter((group) => used.has(group)),
    settings: new Map([...settings].map(([setting, { value }]) => [setting, value])),
    warnings: [
      ...(deniesOthers ? [note('others_denied')] : []),
      ...linesOfLostIncludes(entries).map((line) =>
        note(deniesOthers ? 'included_denied' : 'shuts_no_one_out', { line }),
      ),
    ],
  };
}
