// A feature's texts in every language, beside the feature. English says which texts there are.

/** The same texts in another language; the compiler sees to it that none is missing. */
export type Translated<Texts> = {
  [Name in keyof Texts]: Texts[Name] extends string ? string : Translated<Texts[Name]>;
};

export interface FeatureMessages<Texts> {
  en: Translated<Texts>;
  de: Translated<Texts>;
}

/**
 * Texts are in vue-i18n's syntax: `{name}` is filled in, `one | {n} many` chooses by number, and `@`, `{`, `}` and `|`
 * as themselves are written `{'@'}`.
 */
export function messagesOf<Texts extends object>(en: Texts, de: Translated<Texts>): FeatureMessages<Texts> {
  return { en: en as Translated<Texts>, de };
}
