// Custom fields of a license: what an organization records beside the holder, such as its cost center.

/** Texts by name, in the order in which they were added. */
export type CustomFields = Readonly<Record<string, string>>;

export const MAX_CUSTOM_FIELDS = 20;
export const MAX_FIELD_NAME = 60;
export const MAX_FIELD_VALUE = 500;

/** Names that differ only in case name the same field. */
export function foldFieldName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}

/** Each name once; the first spelling stands for all. */
export function uniqueFieldNames(names: Iterable<string>): string[] {
  const byFolded = new Map<string, string>();
  for (const name of names) {
    const folded = foldFieldName(name);
    if (!byFolded.has(folded)) byFolded.set(folded, name);
  }
  return [...byFolded.values()];
}

/** The value of the field with this name in any spelling; null if there is none. */
export function customField(fields: CustomFields, name: string): string | null {
  const folded = foldFieldName(name);
  return Object.entries(fields).find(([other]) => foldFieldName(other) === folded)?.[1] ?? null;
}
