import { readFileSync, globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { de as shellDe } from '../../electron/texts-de.ts';
import { en as shellEn } from '../../electron/texts-en.ts';
import { texts } from '../../renderer/src/i18n/messages.ts';
import { root } from '../../scripts/paths.mjs';
import { EVENT_NAMES } from '#server/features/events/event-contract.ts';
import { ALERTS } from '#server/features/alerts/alert-contract.ts';
import { SETTING_WARNINGS } from '#server/platform/setting-warnings.ts';

/** Every text by its key, such as `common.errors.not_found`. Functions are called with sample arguments. */
function flatten(nested: object, prefix = ''): [key: string, text: string][] {
  return Object.entries(nested).flatMap(([name, value]): [string, string][] => {
    const key = prefix + name;
    if (typeof value === 'string') return [[key, value]];
    if (typeof value === 'function') return [1, 2].map((count) => [`${key}(${count})`, value(count, 'NAME')]);
    return flatten(value, `${key}.`);
  });
}

const page = { en: new Map(flatten(texts.en)), de: new Map(flatten(texts.de)) };
const shell = { en: new Map(flatten(shellEn)), de: new Map(flatten(shellDe)) };
const pairs = [page, shell].flatMap(({ en, de }) =>
  [...en].map(([key, text]) => ({ key, en: text, de: de.get(key) ?? '' })),
);

/** `{name}`, but not the literal `{'@'}`. */
const placeholders = (text: string) => [...new Set(text.match(/\{[\w.]+\}/gu))].toSorted();
/** vue-i18n separates plural forms with a bar between spaces. */
const pluralForms = (text: string) => text.split(' | ');

test('English and German have the same keys', () => {
  expect([...page.de.keys()]).toEqual([...page.en.keys()]);
  expect([...shell.de.keys()]).toEqual([...shell.en.keys()]);
});

test('English and German have the same placeholders and the same number of plural forms', () => {
  const shapes = (text: string) => ({ names: placeholders(text), forms: pluralForms(text).length });
  const differing = pairs.filter(
    ({ en: english, de: german }) => JSON.stringify(shapes(english)) !== JSON.stringify(shapes(german)),
  );
  expect(differing).toEqual([]);
});

/** Names, abbreviations and words that both languages share. */
const SHARED =
  /^(?:Pools|Leases|Hosts?|Position|Clients?|License Desk(?: \{version\}(?:, Electron \{electron\})?)?|Name|Feature|Plan|Token|Token …\{lastFour\}|Webhooks?|Server|System|Administrator|Integrator|Integration|Problem|Version(?: \{version\})?|Electron \{version\}|API(?:: NAME|: 1|: 2)?|API-Port|Admin-Port|API-Token|TLS|URL|Port|OK|Browser|Passphrase|config\.json|HTTP \{status\}|\{ms\} ms|\{action\}: \{name\}|\{actor\}: \{action\}|\{name\}: \{before\} → \{after\}|\{field\}: \{before\} → \{value\}|CSV|0 to 65535|Leader|Follower)$/u;

test('German repeats an English text only where both languages share the word', () => {
  const repeated = pairs.filter((text) => text.en === text.de && !SHARED.test(text.en));
  expect(repeated).toEqual([]);
});

/** The dialect that docs/glossary.md and CONTRIBUTING.md rule out. */
const DIALECT = {
  en: [
    /\b(?:who|what|where|which)ever\b/iu,
    /\b(?:nobody|somebody|anybody|everybody)\b/iu,
    /\b(?:mend|mends|at hand|of its own|told of|stands there|set nothing|at once|in force|taken up|taken back)\b/iu,
    /\b(?:there is no|this is no|is no [a-z]+)\b/iu,
    /\bempty: /iu,
    /\b(?:please|sorry|oops)\b|!/iu,
    /\b(?:owner|customer|partner|partners|the list holds|does not say)\b/iu,
    /\b(?:expected|received) (?:string|number|undefined|object)\b/iu,
    /\b(?:address|port|name|fingerprint|request) of the (?:API|back office|device)\b/iu,
  ],
  de: [
    /\b(?:Adresse|Port) der (?:API|Verwaltung)\b/u,
    /\b(?:niemand|jemand)\b/iu,
    /\bLeer: /u,
    /\b(?:bitte|leider)\b|!/iu,
    /\b(?:schon|gibt es (?:kein|nicht)|tut es auch|von selbst|abgewiesen|unterschrieben|Unterschrift)\b/u,
    /\bbenutz(?:t|en|e)\b/iu,
  ],
};

test.each(['en', 'de'] as const)('no %s text contains dialect', (language) => {
  const found = pairs.filter((text) => DIALECT[language].some((pattern) => pattern.test(text[language])));
  expect(found.map(({ key, [language]: text }) => `${key}: ${text}`)).toEqual([]);
});

test.each(['en', 'de'] as const)('%s texts start with a capital letter or a value', (language) => {
  /** Parts of other texts, in lower case on purpose. */
  const isPart = (key: string) =>
    /^licenses\.(?:anyDevices|devicesAllowed|anyFloating|floatingSeats)$/u.test(key);
  const lower = pairs.filter(
    ({ key, [language]: text }) =>
      !isPart(key) &&
      pluralForms(text).some((form) => /^[a-zäöü]/u.test(form) && !/^(?:config\.json|ca\.pem)\b/u.test(form)),
  );
  expect(lower.map(({ key, [language]: text }) => `${key}: ${text}`)).toEqual([]);
});

test('an ellipsis follows the word in English, and a space in German', () => {
  const wrong = [
    ...[...page.en].filter(([, text]) => / …(?=$|[\s.])/u.test(text)),
    ...[...page.de].filter(([, text]) => /\p{L}…$/u.test(text)),
  ];
  expect(wrong).toEqual([]);
});

const sources = globSync('renderer/src/**/*.{vue,ts}', { cwd: root })
  .filter((path) => !path.endsWith('-messages.ts'))
  .map((path) => readFileSync(`${root}/${path}`, 'utf8'))
  .join('\n');

const KEY = String.raw`(?:[\w-]|\$\{[^}]*\})+(?:\.(?:[\w-]|\$\{[^}]*\})+)+`;
/** `licenses.states.${name}` stands for every text of that group. */
const toPattern = (key: string) =>
  new RegExp(
    `^${key
      .split(/\$\{[^}]*\}/u)
      .map((part) => part.replaceAll('.', String.raw`\.`))
      .join('.+')}$`,
    'u',
  );
const keysIn = (pattern: string) => [
  ...new Set([...sources.matchAll(new RegExp(pattern, 'gu'))].map(({ groups }) => groups?.['key'] ?? '')),
];

test('every key that the page asks for exists', () => {
  const asked = keysIn(String.raw`(?:\bt\(\s*['${'`'}]|(?<!:)keypath=")(?<key>${KEY})`);
  expect(asked.length).toBeGreaterThan(400);
  const keys = [...page.en.keys()];
  const exists = (pattern: RegExp) => keys.some((key) => pattern.test(key));
  expect(asked.filter((key) => !exists(toPattern(key)))).toEqual([]);
});

test('every text with plural forms is asked for with its number', () => {
  const withoutNumber = String.raw`\bt\(\s*'(?<key>${KEY})'\s*(?:,\s*\{(?:[^{}]|\{[^{}]*\})*\}\s*,?\s*)?\)`;
  const asked = keysIn(withoutNumber);
  expect(asked.length).toBeGreaterThan(400);
  expect(asked.filter((key) => pluralForms(page.en.get(key) ?? '').length > 1)).toEqual([]);
});

test('the page uses every text', () => {
  const named = keysIn(String.raw`(?:['${'`'}]|(?<!:)keypath=")(?<key>${KEY})`).map(toPattern);
  expect([...page.en.keys()].filter((key) => !named.some((used) => used.test(key)))).toEqual([]);
});

test('every alert and every warning about settings has a text', () => {
  for (const alerts of [texts.en.alerts.titles, texts.en.alerts.text])
    expect(Object.keys(alerts).toSorted()).toEqual(Object.keys(ALERTS).toSorted());
  expect(Object.keys(texts.en.network.warnings).toSorted()).toEqual([...SETTING_WARNINGS].toSorted());
});

test('every webhook event has a text', () => {
  const keys = [...page.en.keys()];
  expect(EVENT_NAMES.filter((name) => !keys.includes(`webhooks.events.${name}`))).toEqual([]);
});
