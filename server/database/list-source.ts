// Where the lists of the current call are read from.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PostgresQuery } from './postgres-connection.ts';

export interface ListSource {
  /** @returns null if the rows have to be read from the database itself */
  rows(query: PostgresQuery): Promise<object[] | null>;
}

const current = new AsyncLocalStorage<ListSource>();

export function listSource(): ListSource | undefined {
  return current.getStore();
}

/** What the work reads with `select` outside a transaction comes from the source, as far as the source has it. */
export function readListsFrom<Result>(source: ListSource, work: () => Promise<Result>): Promise<Result> {
  return current.run(source, work);
}
