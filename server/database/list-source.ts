// Where the lists of the current call are read from.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { PostgresQuery } from './postgres-connection.ts';

export interface ListSource {
  /** @returns null if the rows have to be read from the database itself */
  rows(query: PostgresQuery): Promise<object[] | null>;
}

const current = new AsyncLocalStorage<ListSource | undefined>();

export function listSource(): ListSource | undefined {
  return current.getStore();
}

/** Reads what is remembered for later calls from the database itself, which a replica may be behind. */
export function readForLater<Result>(work: () => Promise<Result>): Promise<Result> {
  return current.run(undefined, work);
}

/** What the work reads with `select` outside a transaction comes from the source, as far as the source has it. */
export function readListsFrom<Result>(source: ListSource, work: () => Promise<Result>): Promise<Result> {
  return current.run(source, work);
}
