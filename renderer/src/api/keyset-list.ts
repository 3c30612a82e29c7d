// A list that loads page by page with a keyset cursor and refreshes when its topic changes.
import { useInfiniteQuery } from '@pinia/colada';
import { computed, type MaybeRefOrGetter, toValue } from 'vue';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import { asCallFailure } from './call-failure.ts';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface ListOptions<Item> {
  /** The live topic, then the filter values. A change of the topic refreshes the list. */
  key: MaybeRefOrGetter<[topic: string, ...string[]]>;
  fetch(cursor: string | undefined): Promise<Page<Item>>;
  /** Whether a change of another topic concerns one of the loaded records. */
  isConcerned?: ConcernOf<Item>;
}

type ConcernOf<Item> = (topic: LiveTopic, items: readonly Item[]) => boolean;

export function useKeysetList<Item>({ key, fetch, isConcerned }: ListOptions<Item>) {
  const query = useInfiniteQuery({
    key: () => toValue(key),
    query: ({ pageParam }: { pageParam: string | null }) => fetch(pageParam ?? undefined),
    ...(isConcerned && {
      meta: {
        isConcerned: (topic: LiveTopic, data: unknown) =>
          isConcerned(
            topic,
            (data as { pages: Page<Item>[] }).pages.flatMap(({ items }) => items),
          ),
      },
    }),
    initialPageParam: null as string | null,
    getNextPageParam: (last: Page<Item>) => last.next_cursor,
  });
  return {
    /** What selects the records; changes only when another list is asked for. */
    question: computed(() => JSON.stringify(toValue(key))),
    items: computed(() => query.data.value?.pages.flatMap((page) => page.items) ?? []),
    /** True after the first page has arrived. */
    loaded: computed(() => query.data.value !== undefined),
    loading: computed(() => query.asyncStatus.value === 'loading'),
    failure: computed(() => (query.error.value ? asCallFailure(query.error.value) : null)),
    hasMore: computed(() => query.hasNextPage.value),
    loadMore: () => query.loadNextPage(),
    reload: () => query.refetch(),
  };
}

export type KeysetList<Item> = ReturnType<typeof useKeysetList<Item>>;
