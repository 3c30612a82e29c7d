// What a line of an options file says. The syntax is that of the vendors' administration guides: FlexNet Publisher
// "Options File Syntax", RLM "The ISV Options File". Keywords are read in any case.
import { isNetwork } from '#server/wire/address-text.ts';
import { textProblem } from '#server/wire/readable-text.ts';
import { type LeaseGroupKind, MAX_CLIENT_NAME, MAX_GROUP_NAME } from './lease-group-contract.ts';
import { hostProblem } from './lease-rule-checks.ts';
import { type Note, note, type NoteReason, type NoteValues } from './options-notes.ts';
import { type OptionsFeature, type OptionsLine, parseFeature } from './options-file.ts';

/** Limits of the license and its plan that an options file can set. */
export type OptionsSetting =
  | 'lease_seconds'
  | 'linger_seconds'
  | 'overdraft_seats'
  | 'borrow_max_hours'
  | 'borrow_max_count'
  | 'borrow_keep_free';

/** Whom a line is about; a group by its name in the file. */
export type OptionsTarget =
  | { readonly by: 'user' | 'host' | 'address'; readonly name: string }
  | { readonly by: 'group'; readonly kind: LeaseGroupKind; readonly name: string };

export type OptionsStatement =
  | { type: 'reserve' | 'max'; units: number; feature: OptionsFeature; target: OptionsTarget }
  /** Without a feature, for all of them. */
  | { type: 'allow' | 'deny'; feature: OptionsFeature | null; target: OptionsTarget }
  | { type: 'group'; kind: LeaseGroupKind; name: string; members: string[] }
  | { type: 'setting'; setting: OptionsSetting; value: number; feature: OptionsFeature | null }
  /** Needs no counterpart. */
  | { type: 'ignored'; note: Note }
  /** Has an effect that cannot be imported, or cannot be read. */
  | { type: 'refused'; note: Note };

/** A line, and what it says. */
export interface OptionsEntry {
  source: OptionsLine;
  statement: OptionsStatement;
}

/** A reason not to import a line. */
class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly note: Note;

  constructor(reason: Note) {
    super(reason.message);
    this.note = reason;
  }
}

function refuse(...reason: Parameters<typeof note>): never {
  throw new Refusal(note(...reason));
}

const HOURS_PER_DAY = 24;

const IGNORED: Readonly<Record<string, NoteReason>> = {
  AUTOMATIC_REREAD: 'other_server',
  DAEMON_SELECT_TIMEOUT: 'other_server',
  DEBUGLOG: 'own_logs',
  GROUPCASEINSENSITIVE: 'case_ignored',
  MAX_CONNECTIONS: 'other_server',
  NOLOG: 'own_logs',
  NO_OLD_RLMUTIL: 'other_server',
  PURGE_REPORTLOG: 'own_logs',
  REPORTLOG: 'own_logs',
  ROTATE: 'own_logs',
};

const REFUSED: Readonly<Record<string, NoteReason>> = {
  ACTIVATION_EXPIRY_DAYS: 'trusted_storage',
  ACTIVATION_LOWWATER: 'trusted_storage',
  CLIENT_CACHE: 'client_cache',
  EXCLUDEALL_ENTITLEMENT: 'trusted_storage',
  EXCLUDEALL_ROAM: 'borrowing_for_everyone',
  EXCLUDE_BORROW: 'borrowing_for_everyone',
  EXCLUDE_ENTITLEMENT: 'trusted_storage',
  EXCLUDE_ROAM: 'borrowing_for_everyone',
  EXEMPTALL_MAX: 'exemption',
  EXEMPT_MAX: 'exemption',
  EXPRESS: 'fixed_queue',
  FQDN_MATCHING: 'whole_host_names',
  INCLUDEALL_ENTITLEMENT: 'trusted_storage',
  INCLUDEALL_ROAM: 'borrowing_for_everyone',
  INCLUDE_BORROW: 'borrowing_for_everyone',
  INCLUDE_ENTITLEMENT: 'trusted_storage',
  INCLUDE_ROAM: 'borrowing_for_everyone',
  MINREMOVE: 'reclaim_at_once',
  PRIORITY: 'fixed_queue',
  TIMEZONE: 'time_zones',
  USER: 'license_keys',
};

/** Keywords with a number, and the setting it becomes. FlexNet puts the feature first, RLM the number. */
const SETTINGS: Readonly<
  Record<string, { setting: OptionsSetting; numberFirst: boolean; times?: number; ofAll?: true }>
> = {
  TIMEOUT: { setting: 'lease_seconds', numberFirst: false },
  TIMEOUTALL: { setting: 'lease_seconds', numberFirst: true, ofAll: true },
  LINGER: { setting: 'linger_seconds', numberFirst: false },
  MAX_OVERDRAFT: { setting: 'overdraft_seats', numberFirst: false },
  MAX_BORROW_HOURS: { setting: 'borrow_max_hours', numberFirst: false },
  BORROW_LOWWATER: { setting: 'borrow_keep_free', numberFirst: false },
  ROAM_MAX_DAYS: { setting: 'borrow_max_hours', numberFirst: true, times: HOURS_PER_DAY },
  ROAM_MAX_COUNT: { setting: 'borrow_max_count', numberFirst: true },
};

const GROUPS: Readonly<Record<string, LeaseGroupKind>> = {
  GROUP: 'user',
  USER_GROUP: 'user',
  HOST_GROUP: 'host',
  INTERNET_GROUP: 'host',
};

const NUMBER = /^\d{1,9}$/u;

function numberIn(word: string | undefined): number {
  if (word === undefined) return refuse('no_number');
  return NUMBER.test(word) ? Number(word) : refuse('not_a_number', { word });
}

/** Without the spaces that quotes keep around it: requests cannot have them, so no one could be named like this. */
function nameIn(word = '', what: NoteValues['what'], max = MAX_CLIENT_NAME): string {
  const name = word.trim();
  if (name === '') return refuse('missing_word', { what });
  if (name.length > max) return refuse('word_too_long', { what, got: name.length, max });
  const problem = textProblem(name);
  return problem === null ? name : refuse('hidden_character', { what, name }, problem.message);
}

/**
 * The network of an address with wildcards at its end, such as `10.1.*.*`; null if it is none.
 * @throws Refusal if the wildcards are elsewhere
 */
export function networkOf(pattern: string): string | null {
  if (isNetwork(pattern)) return pattern;
  if (!/^(?:\d{1,3}\.)*\*(?:\.(?:\d{1,3}|\*))*$/u.test(pattern)) return null;
  const parts = pattern.split('.');
  const fixed = parts.indexOf('*');
  if (parts.slice(fixed).some((part) => part !== '*')) return refuse('wildcard_inside', { address: pattern });
  const start = [...parts.slice(0, fixed), '0', '0', '0', '0'].slice(0, 4).join('.');
  const network = `${start}/${fixed * 8}`;
  return isNetwork(network) ? network : refuse('not_an_address', { address: pattern });
}

/** The network of a host that is given by its address; null if it is given by its name. */
function networkIn(host: string, what: NoteValues['what']): string | null {
  const problem = hostProblem(host);
  return problem === null ? networkOf(host) : refuse('not_a_network', { what, name: host }, problem);
}

function memberIn(kind: LeaseGroupKind, name: string): string {
  return kind === 'host' ? (networkIn(name, 'member') ?? name) : name;
}

function targetIn([typeWord, ...names]: readonly string[]): OptionsTarget {
  const type = nameIn(typeWord, 'type').toUpperCase();
  const name = nameIn(names[0], 'name');
  if (names.length > 1) refuse('extra_after_name', { word: names.slice(1).join(' '), name });
  switch (type) {
    case 'USER':
      return { by: 'user', name };
    case 'HOST': {
      const network = networkIn(name, 'host');
      return network === null ? { by: 'host', name } : { by: 'address', name: network };
    }
    case 'INTERNET':
      return { by: 'address', name: networkOf(name) ?? refuse('not_an_address', { address: name }) };
    case 'GROUP':
    case 'USER_GROUP':
    case 'HOST_GROUP':
    case 'INTERNET_GROUP':
      return { by: 'group', kind: GROUPS[type] ?? 'user', name };
    case 'DISPLAY':
    case 'PROJECT':
      return refuse('not_reported', { word: type.toLowerCase() });
    default:
      return refuse('unknown_type', { word: typeWord });
  }
}

/** RLM writes the license of a pool after everything else: `id=17`. */
function withoutPool(words: readonly string[]): { words: readonly string[]; pool: string | null } {
  const last = words.at(-1);
  const isPool = last !== undefined && /^id=/iu.test(last);
  return isPool ? { words: words.slice(0, -1), pool: last } : { words, pool: null };
}

function featureIn(word: string | undefined, pool: string | null): OptionsFeature {
  const feature = parseFeature(nameIn(word, 'feature'));
  return pool === null ? feature : { ...feature, pool };
}

function settingOf(keyword: string, given: readonly string[]): OptionsStatement | null {
  const known = SETTINGS[keyword];
  if (!known) return null;
  const { words, pool } = withoutPool(given);
  const { setting, times = 1 } = known;
  if (words.length > 2) refuse('extra_after_number', { word: words.slice(2).join(' ') });
  const isNumber = words.map((word) => NUMBER.test(word));
  // RLM's TIMEOUT has the number first, and needs no product.
  const numberFirst = isNumber[0] !== isNumber[1] && words.length > 1 ? isNumber[0] : known.numberFirst;
  const isAlone = known.ofAll === true || (keyword === 'TIMEOUT' && words.length === 1);
  const [number, name] = numberFirst || isAlone ? words : [words[1], words[0]];
  const value = numberIn(number) * times;
  return { type: 'setting', setting, value, feature: isAlone ? null : featureIn(name, pool) };
}

/** The English text is about the keyword, as its subject. */
const withKeyword = (keyword: string, { message, ...named }: Note): Note => ({
  ...named,
  message: `${keyword} ${message}`,
});

function statementOf([first = '', ...rest]: readonly string[]): OptionsStatement {
  const keyword = first.toUpperCase();
  const ignored = IGNORED[keyword];
  if (ignored !== undefined) return { type: 'ignored', note: withKeyword(keyword, note(ignored)) };
  const refused = REFUSED[keyword];
  if (refused !== undefined) refuse(refused);
  const kind = GROUPS[keyword];
  if (kind) {
    const [name, ...members] = rest;
    return {
      type: 'group',
      kind,
      name: nameIn(name, 'group_name', MAX_GROUP_NAME),
      members: members.map((member) => memberIn(kind, nameIn(member, 'member'))),
    };
  }
  const setting = settingOf(keyword, rest);
  if (setting) return setting;
  const { words, pool } = withoutPool(rest);
  switch (keyword) {
    case 'RESERVE':
    case 'MAX': {
      const units = numberIn(words[0]);
      const target = targetIn(words.slice(2));
      const type = keyword === 'MAX' ? 'max' : 'reserve';
      if (type === 'max' && target.by === 'user' && target.name === '*') refuse('each_user');
      return { type, units, feature: featureIn(words[1], pool), target };
    }
    case 'INCLUDE':
    case 'EXCLUDE': {
      const type = keyword === 'INCLUDE' ? 'allow' : 'deny';
      return { type, feature: featureIn(words[0], pool), target: targetIn(words.slice(1)) };
    }
    case 'INCLUDEALL':
    case 'EXCLUDEALL':
      return {
        type: keyword === 'INCLUDEALL' ? 'allow' : 'deny',
        feature: null,
        target: targetIn(words),
      };
    default:
      return refuse('unknown_keyword');
  }
}

/** Never throws: what cannot be read or imported is `refused`, with the reason. */
export function parseOptionsLine({ words, isBroken }: OptionsLine): OptionsStatement {
  const keyword = words[0] ?? '';
  const refused = (reason: Note) => ({ type: 'refused', note: withKeyword(keyword, reason) }) as const;
  if (isBroken) return refused(note('open_quote'));
  try {
    return statementOf(words);
  } catch (error) {
    if (error instanceof Refusal) return refused(error.note);
    throw error;
  }
}
