// The page compiles its texts itself, and must read them as vue-i18n does.
import { describe, expect, test } from 'vitest';
import { createI18n } from 'vue-i18n';
import { compileMessage } from '../../renderer/src/i18n/compile-message.ts';
import { texts } from '../../renderer/src/i18n/messages.ts';

function keysOf(ofLanguage: object, prefix = ''): string[] {
  return Object.entries(ofLanguage).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'string' ? [prefix + name] : keysOf(value as object, `${prefix}${name}.`),
  );
}

const NAMES = [...new Set(JSON.stringify(texts).match(/(?<=\{)\w+(?=\})/gu))];
const values = Object.fromEntries(NAMES.map((name) => [name, `<${name}>`]));

type Translate = (key: string, named: object, options: object) => string;
/** Its types derive all keys from the messages, which are too many here. */
const createTranslator = createI18n as unknown as (options: object) => { global: { t: Translate } };

function translator(messages: object, options: object = {}) {
  const { global } = createTranslator({
    legacy: false,
    locale: 'en',
    messages,
    warnHtmlMessage: false,
    ...options,
  });
  return (locale: string, key: string, count: number) =>
    global.t(key, { ...values, 0: 'first', n: count }, { locale, plural: count, list: ['first'] });
}

describe.each(['en', 'de'] as const)('the %s texts', (language) => {
  test('say the same as with the compiler of vue-i18n, for every number', () => {
    const theirs = translator(texts);
    const ours = translator(texts, { messageCompiler: compileMessage });
    const keys = keysOf(texts[language]);
    expect(keys.length).toBeGreaterThan(1000);
    for (const key of keys)
      for (const count of [0, 1, 2])
        expect(ours(language, key, count), `${key}, ${count}`).toBe(theirs(language, key, count));
  });
});

test.each([
  ['{n} seat | {n} seats', '2 seats'],
  ["Mail to {'@'}{name}", 'Mail to @<name>'],
  ["One {'|'} two", 'One | two'],
  ['{ name }: {name}', '<name>: <name>'],
  ['First: {0}', 'First: first'],
  ['', ''],
])('%j is read as vue-i18n reads it', (text, expected) => {
  const messages = { en: { text }, de: {} };
  const compiled = translator(messages, { messageCompiler: compileMessage })('en', 'text', 2);
  expect(compiled).toBe(expected.replaceAll('<name>', values['name'] ?? ''));
  expect(compiled).toBe(translator(messages)('en', 'text', 2));
});
