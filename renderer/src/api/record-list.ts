// A keyset list with the record that is open beside it.
import { useNeighbors } from '../components/neighbors.ts';
import { useOpenRecord } from '../open-record.ts';
import { useKeysetList } from './keyset-list.ts';

const PAGE_SIZE = 100;

interface RecordList<Item, Query extends object> {
  /** What the query's key begins with. */
  topic: readonly [topic: string, ...names: string[]];
  query: () => Query;
  fetch(
    request: Query & { limit: number; cursor?: string },
  ): Promise<{ items: Item[]; next_cursor: string | null }>;
  idOf(item: Item): number;
}

export function useRecordList<Item, Query extends object>({
  topic,
  query,
  fetch,
  idOf,
}: RecordList<Item, Query>) {
  const { openId, open } = useOpenRecord();
  const list = useKeysetList({
    topic,
    request: () => ({ ...query(), limit: PAGE_SIZE }),
    fetch,
    keepsRows: true,
  });
  const neighbors = useNeighbors({ list, key: idOf, openId: () => openId.value, open });
  return { list, neighbors, openId, open };
}
