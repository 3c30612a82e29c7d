// What free text is compared by: databases fold letters each in their own way, SQLite only those of ASCII.

/** Without case and accents, so that `novacek` finds `Nováček`, on both databases alike. */
export function foldForSearch(text: string): string {
  return text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
}
