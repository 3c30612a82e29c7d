// The languages of the page, and how numbers and dates are formatted.
import { computed } from 'vue';
import { createI18n } from 'vue-i18n';
import { compileMessage } from './compile-message.ts';
import { type Texts, texts } from './messages.ts';

declare module 'vue-i18n' {
  // oxlint-disable-next-line typescript/no-empty-object-type -- the only way to tell vue-i18n which texts there are
  export interface DefineLocaleMessage extends Texts {}
}

export const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;
export type Language = keyof typeof LANGUAGES;

const STORED_AS = 'license-desk-language';

function isLanguage(name: string | null | undefined): name is Language {
  return name !== null && name !== undefined && name in LANGUAGES;
}

/** The stored choice, or the browser's preferred language. */
function firstLanguage(): Language {
  const stored = localStorage.getItem(STORED_AS);
  if (isLanguage(stored)) return stored;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en';
}

export const i18n = createI18n({
  legacy: false,
  locale: firstLanguage(),
  fallbackLocale: 'en',
  messages: texts,
  messageCompiler: compileMessage,
  missing: (_language, key) => globalThis.reportError(new Error(`no text: ${key}`)),
});

// A change of a text must not reload the page in development: the reload would clear what was typed.
if (import.meta.hot) {
  import.meta.hot.accept('./messages.ts', (changed) => {
    for (const name of Object.keys(LANGUAGES).filter(isLanguage))
      i18n.global.setLocaleMessage(name, changed?.['texts'][name]);
  });
}

export const language = computed<Language>({
  get: () => i18n.global.locale.value,
  set(chosen) {
    i18n.global.locale.value = chosen;
    localStorage.setItem(STORED_AS, chosen);
    document.documentElement.lang = chosen;
  },
});
document.documentElement.lang = language.value;

/** The locale for numbers and dates. English uses British formats: day before month, 24 hours. */
export const intlLocale = computed(() => (language.value === 'en' ? 'en-GB' : language.value));

const numbers = computed(() => new Intl.NumberFormat(intlLocale.value));

/** `1,234,567` */
export function formatCount(value: number): string {
  return numbers.value.format(value);
}

/** `Email, Notes and Seats` */
export const formatNames = (names: readonly string[]): string =>
  new Intl.ListFormat(intlLocale.value).format(names);

/** `a, b or c` */
export const formatChoices = (choices: readonly string[]): string =>
  new Intl.ListFormat(intlLocale.value, { type: 'disjunction' }).format(choices);

const shares = computed(
  () => new Intl.NumberFormat(intlLocale.value, { style: 'percent', maximumFractionDigits: 1 }),
);

/** `96.8%` @param share from 0 to 1 */
export function formatShare(share: number): string {
  return shares.value.format(share);
}
