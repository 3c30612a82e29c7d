// A list that loads page by page with a keyset cursor and refreshes when its topic changes.
import { useInfiniteQuery } from '@pinia/colada';
import { computed, watch } from 'vue';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import { failureOf } from './query-failure.ts';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

interface ListOptions<Item, Request extends object> {
  /** The live topic, then what tells the list apart. A change of the topic refreshes the list. */
  topic: readonly [topic: string, ...names: string[]];
  /** What selects the records. All pages are asked for with the same, even if it changes in between. */
  request: () => Request;
  fetch(request: Request & { cursor?: string }): Promise<Page<Item>>;
  /** Whether a change of another topic concerns one of the loaded records. */
  isConcerned?: ConcernOf<Item>;
  /** With other filters, the rows so far stay until the first page has arrived. Not for the records of one license. */
  keepsRows?: boolean;
  /** Milliseconds; 0 for records that also change without a live topic, such as when they were last used. */
  staleTime?: number;
}

interface Rows<Item> {
  /** The question that they answer. */
  question: string;
  items: Item[];
}

type ConcernOf<Item> = (topic: LiveTopic, items: readonly Item[]) => boolean;

/** The key of a list's query. */
export const listKey = (topic: readonly [string, ...string[]], request: object): [string, ...string[]] => [
  ...topic,
  JSON.stringify(request),
];

export function useKeysetList<Item, Request extends object>({
  topic,
  request,
  fetch,
  isConcerned,
  keepsRows = false,
  staleTime,
}: ListOptions<Item, Request>) {
  const key = computed(() => listKey(topic, request()));
  const query = useInfiniteQuery(() => {
    const asked = request();
    return {
      key: key.value,
      query: ({ pageParam: cursor }: { pageParam: string | null }) =>
        fetch({ ...asked, ...(cursor === null ? {} : { cursor }) }),
      ...(isConcerned && {
        meta: {
          isConcerned: (changed: LiveTopic, data: unknown) =>
            isConcerned(
              changed,
              (data as { pages: Page<Item>[] }).pages.flatMap(({ items }) => items),
            ),
        },
      }),
      ...(staleTime !== undefined && { staleTime }),
      initialPageParam: null as string | null,
      getNextPageParam: (last: Page<Item>) => last.next_cursor,
    };
  });
  const question = computed(() => JSON.stringify(key.value));
  /** Until the next page has arrived, even after a failure: otherwise the list would stay incomplete. */
  let wantsMore = false;
  /** Waits for a refresh: to cut it off would leave the rows from before, which would count as current. */
  function loadNext(): void {
    if (query.hasNextPage.value && query.asyncStatus.value === 'idle') void query.loadNextPage();
  }
  /** After a failure only once a refresh has succeeded, so that a failing server is not asked again and again. */
  function loadWanted(): void {
    if (wantsMore && !query.error.value) loadNext();
  }
  watch(
    [question, () => query.data.value?.pages.length ?? 0, query.asyncStatus],
    ([asked, count], [askedBefore, countBefore]) => {
      if (asked !== askedBefore || count > countBefore) wantsMore = false;
      loadWanted();
    },
  );
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
    failure: failureOf(query),
    hasMore: computed(() => query.hasNextPage.value),
    /** For a button, which also tries again after a failure. */
    loadMore(): void {
      wantsMore = true;
      loadNext();
    },
    /** For rows that are about to be needed. */
    loadAhead(): void {
      wantsMore = true;
      loadWanted();
    },
    reload: () => query.refetch(),
  };
}

export type KeysetList<Item> = ReturnType<typeof useKeysetList<Item, object>>;
