// Databases for tests on PostgreSQL, in the cluster that all test files of a run share.
import { inject } from 'vitest';

/** The address of a new, empty database. */
export async function newPostgresDatabase(): Promise<string> {
  const response = await fetch(inject('postgres'));
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
}
