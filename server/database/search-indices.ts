// The indices of searches on PostgreSQL.

/** Of migrations 0003 and 0026, which create them if they can. */
const INDICES = {
  // Comparing pieces by the rules of a language takes a third longer to build.
  licenses_pieces: 'licenses USING gin ((search_pieces(search_text)) COLLATE "C")',
  licenses_words: 'licenses USING gin (search_text gin_trgm_ops)',
  licenses_key_part: `licenses USING gin (replace(license_key, '-', '') gin_trgm_ops)`,
  activations_fingerprint_part: 'activations USING gin (machine_fingerprint gin_trgm_ops)',
} as const;

export type SearchIndex = keyof typeof INDICES;

export const SEARCH_INDICES = Object.keys(INDICES) as SearchIndex[];

export const createSearchIndex = (name: SearchIndex, how = ''): string =>
  `CREATE INDEX ${how} ${name} ON ${INDICES[name]}`;

/** Whether the index can be used: it exists, and was built to the end. */
export const hasIndex = (name: SearchIndex): string =>
  `EXISTS (SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('${name}') AND indisvalid)`;
