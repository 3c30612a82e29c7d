// Changes of a group run at the same time. What they ask for in the same turn of the event loop becomes one statement.
import DataLoader from 'dataloader';
import { openTransaction } from './current-transaction.ts';

/**
 * @param statement identifies what is shared
 * @param make called for the first change of each group @returns null outside a group
 */
export function inGroup<Shared>(statement: object, make: () => Shared): Shared | null {
  const shared = openTransaction.getStore()?.group?.shared;
  if (!shared) return null;
  const known = (shared.get(statement) as Shared | undefined) ?? make();
  shared.set(statement, known);
  return known;
}

interface CollectorOptions {
  /** Whether what was asked for once is never asked for again. */
  isKept?: boolean;
}

/** @param askAll may answer with an error for some */
export function collector<Item, Answer>(
  askAll: (items: readonly Item[]) => Promise<(Answer | Error)[]>,
  { isKept = false }: CollectorOptions = {},
): (item: Item) => Promise<Answer> {
  const loader = new DataLoader<Item, Answer>(askAll, { cache: isKept, batchScheduleFn: setImmediate });
  return (item) => loader.load(item);
}
