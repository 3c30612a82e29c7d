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
  /** With other filters, the rows so far stay until the first page has arrived. Not for the records of one license. */
  keepsRows?: boolean;
}

interface Rows<Item> {
  /** The question that they answer. */
  question: string;
  items: Item[];
}

type ConcernOf<Item> = (topic: LiveTopic, items: readonly Item[]) => boolean;

export function useKeysetList<Item>({ key, fetch, isConcerned, keepsRows = false }: ListOptions<Item>) {
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
  const question = computed(() => JSON.stringify(toValue(key)));
  const rows = computed((before?: Rows<Item>): Rows<Item> => {
    const { data, error } = query;
    if (keepsRows && before && data.value === undefined && !error.value) return before;
    return { question: question.value, items: data.value?.pages.flatMap((page) => page.items) ?? [] };
  });
  return {
    /** What selected the records; changes only when those of another list are shown. */
    question: computed(() => rows.value.question),
    items: computed(() => rows.value.items),
    /** The records were selected by another question than the one that is being answered. */
    isOutdated: computed(() => rows.value.question !== question.value),
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
