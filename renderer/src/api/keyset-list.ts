// A list that is read page after page, each from where the last one ended, and that keeps up with what changes.
import { useInfiniteQuery } from '@pinia/colada';
import { computed, type MaybeRefOrGetter, toValue } from 'vue';
import { asCallFailure } from './call-failure.ts';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface ListOptions<Item> {
  /** The topic that it changes with, then whatever selects what is listed. */
  key: MaybeRefOrGetter<[topic: string, ...string[]]>;
  fetch(cursor: string | undefined): Promise<Page<Item>>;
}

export function useKeysetList<Item>({ key, fetch }: ListOptions<Item>) {
  const query = useInfiniteQuery({
    key: () => toValue(key),
    query: ({ pageParam }: { pageParam: string | null }) => fetch(pageParam ?? undefined),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Item>) => last.next_cursor,
  });
  return {
    /** What selects the records; changes only when another list is asked for. */
    question: computed(() => JSON.stringify(toValue(key))),
    items: computed(() => query.data.value?.pages.flatMap((page) => page.items) ?? []),
    /** The first page was answered. */
    loaded: computed(() => query.data.value !== undefined),
    loading: computed(() => query.asyncStatus.value === 'loading'),
    failure: computed(() => (query.error.value ? asCallFailure(query.error.value) : null)),
    hasMore: computed(() => query.hasNextPage.value),
    loadMore: () => query.loadNextPage(),
    reload: () => query.refetch(),
  };
}

export type KeysetList<Item> = ReturnType<typeof useKeysetList<Item>>;
