// The texts of a feature in every language. English defines the keys.

/** The same keys in another language; the compiler reports missing ones. */
export type Translated<Texts> = {
  [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>;
};

export interface FeatureMessages<Texts> {
  en: Translated<Texts>;
  de: Translated<Texts>;
}

/**
 * Texts use vue-i18n's syntax: `{name}` is a placeholder, `one | {n} many` selects by number. Write a literal `@`,
 * `{`, `}` or `|` as `{'@'}`.
 */
export function messagesOf<Texts extends object>(en: Texts, de: Translated<Texts>): FeatureMessages<Texts> {
  return { en: en as Translated<Texts>, de };
}
