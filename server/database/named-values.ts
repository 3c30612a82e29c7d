// Binds values to SQL: the text names each as `$name`, and an object supplies it under that name.

export type Values = Readonly<Record<string, unknown>>;

const NAME = /\$([a-z]\w*)/giu;

/** A statement with numbered placeholders instead of names. */
export interface NumberedText {
  text: string;
  /** By number, from 1. */
  names: readonly string[];
}

/** @param expression gives what takes the place of `$name` */
export const replaceNames = (text: string, expression: (name: string) => string): string =>
  text.replaceAll(NAME, (_, name: string) => expression(name));

/** @param placeholder the character before a number */
export function numbered(text: string, placeholder: '?' | '$'): NumberedText {
  const names: string[] = [];
  const replaced = replaceNames(text, (name) => {
    const known = names.indexOf(name);
    const index = known === -1 ? names.push(name) - 1 : known;
    return `${placeholder}${index + 1}`;
  });
  return { text: replaced, names };
}

/**
 * Lists values by number. Values that the text does not name are ignored.
 * @throws Error for a missing value, which a database would treat as NULL
 */
export function inOrder(
  names: readonly string[],
  values: Values,
  toList: (values: readonly unknown[]) => unknown,
): unknown[] {
  return names.map((name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the statement names $${name}, which has no value`);
    return Array.isArray(value) ? toList(value) : value;
  });
}
